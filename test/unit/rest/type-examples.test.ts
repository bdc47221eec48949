// Every example of the reference of types does what it shows, on an empty service.

import { beforeAll, describe, expect, test } from 'vitest';
import type { EntityType } from '../../../src/dataset/entity-type.ts';
import { Rowan } from '../../../src/index.ts';
import {
  DOCUMENTED_KINDS,
  documentedTypes,
  typePage,
} from '../../../src/rest/doc/type-reference.ts';
import { BUILT_IN_TYPES } from '../../../src/service/entity/built-in-types.ts';

/** Types whose example names a file of the reader's own, which no request can make. */
const NEEDS_A_FILE: Readonly<Record<string, string>> = {
  'import.xlsx': 'a workbook is a ZIP archive: no procedure writes one',
  'import.repo': 'a Git repository is a folder with its history: no procedure writes one',
};

/** Types of which one of several parameters is needed. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  'classifier.importance': 'functionName or modelFileUrl',
};

interface PrintedRequest {
  verb: 'PUT' | 'POST';
  path: string;
  body: { type?: string; params?: Record<string, unknown> };
}

interface Outcome {
  status: number;
  text: string;
}

let types: EntityType[];

beforeAll(async () => {
  const rowan = await Rowan.open({ dataDir: null });
  types = DOCUMENTED_KINDS.flatMap((kind) => documentedTypes(rowan.service.types, kind, false));
  await rowan.close();
});

describe('the example of a type', () => {
  test('is there for each', () => {
    expect(types.length).toBeGreaterThan(BUILT_IN_TYPES.length);
    const without = types.filter((type) => !typePage(type).body.includes('Creating one'));
    expect(without.map(({ name }) => name)).toEqual([]);
    const names = types.map(({ name }) => name);
    expect(Object.keys(NEEDS_A_FILE).filter((name) => !names.includes(name))).toEqual([]);
  });

  test('runs as printed', { timeout: 300_000 }, async () => {
    const failures: string[] = [];
    for (const type of types) {
      const outcomes = await perform(printedRequests(type));
      if (type.kind === 'function') console.log(type.name, outcomes.at(-1)?.text.slice(0, 150));
      const failed = outcomes.find(({ status }) => status >= 300);
      if (type.name in NEEDS_A_FILE) {
        // All is right but the file.
        expect(failed?.text, type.name).toMatch(/No such file|is no Git repository/);
      } else if (failed !== undefined) {
        failures.push(`${type.kind} ${type.name}: ${failed.status} ${failed.text.slice(0, 300)}`);
      }
    }
    expect(failures).toEqual([]);
  });
});

describe('parameters that the reference calls required', { timeout: 300_000 }, () => {
  test('are all that is needed, and each is', async () => {
    const failures: string[] = [];
    for (const type of types.filter(({ name }) => !(name in NEEDS_A_FILE))) {
      const requests = printedRequests(type);
      const at = requests.findIndex(({ path }) => path === `/v1/${type.kind}s/example`);
      const { body, ...creation } = requests[at] as PrintedRequest;
      const { runOnCreation, ...params } = body.params ?? {};
      const required = requiredNames(type).map((name) => name as keyof typeof params);
      const fewest = Object.fromEntries(required.map((name) => [name, params[name]]));
      const variants = [fewest, ...required.map((name) => ({ ...params, [name]: undefined }))];
      const outcomes = await perform([
        ...requests.slice(0, at),
        ...variants.map((variant, index) => ({
          ...creation,
          path: `/v1/${type.kind}s/variant_${index}`,
          body: { ...body, params: { ...variant, runOnCreation } },
        })),
      ]);
      const [sufficient, ...lacking] = outcomes.slice(at) as [Outcome, ...Outcome[]];
      if (sufficient.text.includes('MISSING_PARAMETER') && !(type.name in ALTERNATIVES)) {
        failures.push(`${type.name} with ${required.join(', ')}: ${sufficient.text}`);
      }
      if (sufficient.status >= 300) console.log(type.name, sufficient.text.slice(0, 200));
      const accepted = required.filter((_, index) => (lacking[index] as Outcome).status < 400);
      failures.push(...accepted.map((name) => `${type.name} does without ${name}`));
    }
    expect(failures).toEqual([]);
  });
});

/** The names in the first column of the page's table, of rows that say `required`. */
function requiredNames(type: EntityType): string[] {
  const rows = typePage(type)
    .body.split('<tr>')
    .filter((row) => row.includes('<td>required</td>'));
  return rows
    .map((row) => />(\w[\w.]*)<\/code>/.exec(row)?.[1] ?? row)
    .filter((name) => !name.includes('.'));
}

/** The requests that the page of a type shows. */
function printedRequests(type: EntityType): PrintedRequest[] {
  const { body: html } = typePage(type);
  return [...html.matchAll(/<pre><code>([^<]*)<\/code><\/pre>/g)].map(([, text = '']) => {
    const [line = '', ...rest] = unescapeHtml(text).split('\n');
    const [verb, path = ''] = line.split(' ');
    const body = JSON.parse(rest.join('\n')) as PrintedRequest['body'];
    return { verb: verb as PrintedRequest['verb'], path, body };
  });
}

function unescapeHtml(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
  return text.replace(/&(#?\w+);/g, (_, name: string) => named[name] as string);
}

/** What an empty service answers to requests that are sent one after the other. */
async function perform(requests: readonly PrintedRequest[]): Promise<Outcome[]> {
  const rowan = await Rowan.open({ dataDir: null });
  try {
    const outcomes: Outcome[] = [];
    for (const { verb, path, body } of requests) {
      const { status, text } = await rowan.perform(verb, path, { body });
      outcomes.push({ status, text });
    }
    return outcomes;
  } finally {
    await rowan.close();
  }
}
