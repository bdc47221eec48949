// Runs one conformance case against a server.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseJson } from '../../src/util/exact-json.ts';
import type { HttpClient, HttpReply } from '../support/http.ts';
import type { ConformanceCase, Request } from './cases.ts';
import { findDifference, show } from './compare.ts';

/**
 * @returns the codes of the warnings of the answer
 * @throws Error that says what differs, when the case does not pass
 */
export async function runCase(
  client: HttpClient,
  conformanceCase: ConformanceCase,
): Promise<readonly string[]> {
  const { files } = conformanceCase;
  if (files === undefined) return runIn(client, conformanceCase);
  const directory = mkdtempSync(join(tmpdir(), 'rowan-conformance-'));
  try {
    for (const [name, text] of Object.entries(files)) {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, fillIn(text, directory) as string);
    }
    return await runIn(client, fillIn(conformanceCase, directory) as ConformanceCase);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function runIn(
  client: HttpClient,
  conformanceCase: ConformanceCase,
): Promise<readonly string[]> {
  const { setup = [], request, status, compare } = conformanceCase;
  for (const step of setup) {
    const reply = await send(client, step);
    if (!hasStatus(reply, '2xx')) throw new Error(`setup failed: ${describe(step, reply)}`);
  }
  const reply = await send(client, request);
  if (!hasStatus(reply, status)) {
    throw new Error(`expected status ${status}: ${describe(request, reply)}`);
  }
  const warnings = warningCodes(reply);
  if (compare === 'status') return warnings;
  const body = parseBody(reply);
  if (compare.startsWith('error:')) {
    const text = compare.slice('error:'.length);
    const message = String((body as { error?: unknown } | null)?.error);
    if (message.toLowerCase().includes(text.toLowerCase())) return warnings;
    throw new Error(`expected an error with "${text}": ${describe(request, reply)}`);
  }
  const difference = findDifference(compare, conformanceCase.expect, body, isTable(request));
  if (difference !== undefined) throw new Error(`${difference}\n${describe(request, reply)}`);
  return warnings;
}

function warningCodes({ headers }: HttpReply): readonly string[] {
  const text = headers['x-rowan-warnings'];
  if (typeof text !== 'string') return [];
  return (JSON.parse(text) as { readonly code: string }[]).map(({ code }) => code);
}

function send(client: HttpClient, [verb, path, body, headers]: Request): Promise<HttpReply> {
  return client.send(verb, path, body, headers);
}

/** An answer that is not JSON, such as CSV, is compared as text. */
function parseBody(reply: HttpReply): unknown {
  if (reply.text === '') return null;
  const type = String(reply.headers['content-type'] ?? '');
  return type.includes('json') && !type.includes('ndjson') ? parseJson(reply.text) : reply.text;
}

function hasStatus(reply: HttpReply, status: number | string): boolean {
  const actual = String(reply.status);
  const expected = String(status);
  return expected.endsWith('xx') ? actual[0] === expected[0] : actual === expected;
}

/** Whether the request asks for a table with a row of column names. */
function isTable([, path, body]: Request): boolean {
  const query = new URL(path, 'http://host').searchParams;
  const options = (body ?? {}) as { format?: unknown; headers?: unknown };
  const hasHeaders = options.headers !== false && query.get('headers') !== 'false';
  return hasHeaders && (options.format === 'table' || query.get('format') === 'table');
}

/** A copy in which every string has the directory's path for `{{dir}}`. */
function fillIn(value: unknown, directory: string): unknown {
  if (typeof value === 'string') return value.replaceAll('{{dir}}', directory);
  if (Array.isArray(value)) return value.map((item) => fillIn(item, directory));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [fillIn(key, directory), fillIn(item, directory)]),
  );
}

function describe([verb, path, body]: Request, reply: HttpReply): string {
  const answer = reply.text.length > 1000 ? `${reply.text.slice(0, 1000)} ...` : reply.text;
  return `${verb} ${path} ${show(body)} answered ${reply.status} ${answer}`;
}
