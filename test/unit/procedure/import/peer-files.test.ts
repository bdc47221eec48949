// Files of other programs give the values, names, order and nulls that their makers put in
// (test/reference/peer-files.py): types, nesting, compressions, pages, dialects.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { parseJson } from '../../../../src/util/exact-json.ts';
import { projectRoot } from '../../../support/project.ts';

interface PeerFile {
  readonly file: string;
  readonly type: string;
  readonly params: Record<string, unknown>;
  /** which of the contents it holds */
  readonly rows: number;
}

type Row = Record<string, unknown>;

const FILES = join(projectRoot, 'test/reference/peer-files');
const { contents, files } = parseJson(readFileSync(join(FILES, 'expected.json'), 'utf8')) as {
  readonly contents: readonly (readonly Row[])[];
  readonly files: readonly PeerFile[];
};

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 2 });
});
afterAll(async () => {
  await rowan.close();
});

test.each(files)('$file', async ({ file, type, params, rows }) => {
  const reply = await rowan.put('/v1/procedures/import', {
    type,
    params: {
      dataFileUrl: `file://${join(FILES, file)}`,
      outputDataset: 'peer',
      runOnCreation: true,
      ...params,
    },
  });
  expect(reply.status, reply.text).toBe(201);
  const isBook = type === 'import.xlsx';
  const order = isBook ? '' : ' ORDER BY CAST (rowName() AS INTEGER)';
  const found = (await rowan.query(`SELECT * FROM peer${order}`, {
    format: 'aos',
    rowNames: isBook,
  })) as Row[];
  expect(found.map(known)).toEqual((contents[Number(rows)] as readonly Row[]).map(known));
});

test.each([
  ['unions.arrow', 'has the Arrow type Union'],
  ['list-views.arrow', 'ListView'],
  ['runs.arrow', 'RunEndEncoded'],
])('%s is refused: %s', async (file, reason) => {
  const reply = await rowan.put('/v1/procedures/import', {
    type: 'import.arrow',
    params: {
      dataFileUrl: `file://${join(FILES, file)}`,
      outputDataset: 'no',
      runOnCreation: true,
    },
  });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(reason)]);
  expect((await rowan.get('/v1/datasets/no')).status).toBe(404);
});

test('columns beside one that cannot be read are read', async () => {
  const reply = await rowan.put('/v1/procedures/import', {
    type: 'import.arrow',
    params: {
      dataFileUrl: `file://${join(FILES, 'unions.arrow')}`,
      outputDataset: 'some',
      select: 'n',
      runOnCreation: true,
    },
  });
  expect(reply.status, reply.text).toBe(201);
  expect(await rowan.query('SELECT sum(n) AS s FROM some', { format: 'atom' })).toBe(6);
});

/** What is not null; integers alike, however they are held. */
function known(row: Row): Map<string, unknown> {
  const cells = Object.entries(row).filter(([, value]) => value !== null);
  return new Map(cells.map(([name, value]) => [name, comparable(value)]));
}

function comparable(value: unknown): unknown {
  const { blob } = (value ?? {}) as { blob?: (number | string)[] };
  if (blob !== undefined) {
    return Buffer.concat(blob.map((part) => Buffer.from(typeof part === 'string' ? part : [part])));
  }
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}
