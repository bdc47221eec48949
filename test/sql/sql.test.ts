// Every .slt file below this folder, in one service. README.md describes the format.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { sep } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRowan, type TestService } from '../support/rowan.ts';
import { parseSlt } from './parse-slt.ts';
import { complete, SltRun } from './run-slt.ts';

const folder = new URL('./', import.meta.url);
const completes = process.env.ROWAN_SLT_COMPLETE === '1';
const allPaths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((path) => path.split(sep).join('/'))
  .filter((path) => path.endsWith('.slt'))
  .sort();
const paths = allPaths.filter((path) => path.includes(process.env.ROWAN_SLT ?? ''));

/** Files of `standard/` have columns as selected, the others by name, as MLDB has them. */
const orderOf = (path: string) => (path.startsWith('standard/') ? 'select' : 'name');

const services = new Map<'select' | 'name', TestService>();

beforeAll(async () => {
  for (const columnOrder of new Set(paths.map(orderOf))) {
    services.set(columnOrder, await openRowan({ columnOrder }));
  }
});

afterAll(async () => {
  for (const service of services.values()) await service.close();
});

for (const path of paths) {
  const text = readFileSync(new URL(path, folder), 'utf8');
  const file = parseSltAt(path, text);
  describe(`${path}: ${file.description}`, () => {
    let run: SltRun;

    beforeAll(() => {
      const service = services.get(orderOf(path));
      if (service === undefined) throw new Error('the service did not start');
      run = new SltRun(service, { completes });
    });

    afterAll(async () => {
      await run.end();
      if (completes) {
        writeFileSync(new URL(path, folder), complete(text, file.records, run.completions));
      }
    });

    for (const record of file.records) {
      const title = record.kind === 'table' ? record.dataset : (record.text.split('\n')[0] ?? '');
      test(`line ${record.line}: ${record.kind} ${title}`, () => run.run(record));
    }
  });
}

test('every file tests something', () => {
  const empty = allPaths.filter((path) => {
    const { records } = parseSltAt(path, readFileSync(new URL(path, folder), 'utf8'));
    return records.every(({ kind }) => kind === 'table');
  });
  expect(empty).toEqual([]);
});

function parseSltAt(path: string, text: string): ReturnType<typeof parseSlt> {
  try {
    return parseSlt(text);
  } catch (error) {
    throw new Error(`${path}, ${(error as Error).message}`);
  }
}
