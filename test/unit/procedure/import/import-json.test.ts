// import.json as a client sees it: lines that are too long end the import.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rowan-import-json-'));
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
});
afterAll(async () => {
  await rowan?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** 600,012 bytes in the second line, which goes over several units. */
const TEXT = `{"x":1}\n{"x":2,"y":"${'t'.repeat(600_000 - 5)}"}\n{"x":3}\n`;

test.each([
  ['a file', 'a.json', TEXT, {}],
  ['a compressed file', 'a.json.gz', gzipSync(TEXT), {}],
  ['a file row by row', 'b.json', TEXT, { where: 'x > 0' }],
])('%s: a line that is too long is told by its number', async (_name, name, bytes, params) => {
  writeFileSync(join(folder, name), bytes);
  const run = async (more: object) => {
    const reply = await rowan.post('/v1/procedures', {
      type: 'import.json',
      params: {
        ...{ dataFileUrl: `file://${folder}/${name}`, outputDataset: 'd', runOnCreation: true },
        ...{ ...params, ...more },
      },
    });
    return [reply.status, reply.text];
  };
  const length = TEXT.split('\n')[1]?.length ?? 0;
  for (const ignoreBadLines of [false, true]) {
    const refused = await run({ maxLineBytes: length - 1, ignoreBadLines });
    expect(refused).toEqual([400, expect.stringContaining('line 2 of')]);
    expect(refused[1]).toContain(`longer than ${length - 1} bytes`);
  }
  expect(await run({ maxLineBytes: length })).toEqual([
    201,
    expect.stringContaining('"rowCount":3'),
  ]);
});
