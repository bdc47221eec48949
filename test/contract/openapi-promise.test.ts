// What OpenAPI says against what the server does: schemathesis makes requests from the description,
// valid ones and such as it forbids, and compares every reply with what was promised.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import { canTest, findSchemathesis } from '../support/services.ts';

const program = findSchemathesis();

/** Requests of each operation, beside its examples. */
const REQUEST_COUNT = 30;

const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
  'negative_data_rejection',
  'allow_header_conformance',
];

/** The first ends the server, the reply of the second does not end before its client leaves. */
const LEFT_OUT = ['/v1/shutdown', '/v1/watches'];

describe.runIf(canTest('schemathesis', program))('requests made from the description', () => {
  let folder: string;
  let rowan: Rowan;
  let origin: string;
  let key: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rowan-openapi-'));
    rowan = await Rowan.open({
      ...{ dataDir: join(folder, 'data'), workers: 2 },
      files: { fileRoots: [folder] },
    });
    key = (await rowan.web.keys.create({ role: 'admin' })).key;
    origin = await rowan.listen();
  });
  afterAll(async () => {
    await rowan?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('are answered as it promises', { timeout: 900_000 }, async () => {
    const { code, output } = await runSchemathesis([
      ...['run', `${origin}/openapi.json`, '--header', `Authorization: Bearer ${key}`],
      ...['--seed', '1', '--phases', 'examples,fuzzing', '--max-examples', String(REQUEST_COUNT)],
      ...['--checks', CHECKS.join(','), '--generation-database', 'none', '--no-color'],
      ...['--request-timeout', '60', '--suppress-health-check', 'all'],
      ...LEFT_OUT.flatMap((path) => ['--exclude-path', path]),
    ]);
    expect(output).toMatch(/Selected: +1[0-9]{2}\//);
    expect(code, output).toBe(0);
  });

  function runSchemathesis(args: readonly string[]): Promise<{ code: number; output: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn(program as string, args, {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? -1, output }));
    });
  }
});
