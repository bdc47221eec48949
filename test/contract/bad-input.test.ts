// Mistakes that people make on the way from a file to a model: each gets a clear answer, leaves
// nothing behind, and the service goes on.
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';

let rowan: Rowan;
let dir: string;

const WORDS = ["it's", 'b', 'c'];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowan-bad-'));
  rowan = await Rowan.open({ dataDir: null });
  const rows = Array.from({ length: 60 }, (_, i) =>
    [i, i % 3, i % 2 ? 'yes' : 'no', 1, WORDS[i % 3]].join(),
  );
  await writeFile(join(dir, 'good.csv'), `x,three,y,one,word\n${rows.join('\n')}\n`);
  await writeFile(join(dir, 'twice.csv'), 'a,b,a\n1,2,3\n');
  await writeFile(join(dir, 'ragged.csv'), 'a,b,c\n1,2,3\n4,5,6\n7\n');
  await writeFile(join(dir, 'empty.csv'), '');
  await expectStatus('PUT', '/v1/procedures/load', importOf('good.csv', 'good'), 201);
  await expectStatus('PUT', '/v1/datasets/nothing', { type: 'sparse.mutable' }, 201);
});

afterAll(async () => {
  await rowan.close();
  await rm(dir, { recursive: true, force: true });
});

function urlOf(name: string): string {
  return pathToFileURL(join(dir, name)).href;
}

function importOf(file: string, outputDataset: string, more: object = {}): object {
  const params = { dataFileUrl: urlOf(file), outputDataset, runOnCreation: true, ...more };
  return { type: 'import.text', params };
}

function forestOf(trainingData: string, more: object = {}): object {
  const params = { trainingData, modelFileUrl: urlOf('m.cls'), functionName: 'f', ...more };
  return { type: 'randomforest.binary.train', params: { ...params, runOnCreation: true } };
}

async function expectStatus(verb: string, path: string, body: unknown, status: number) {
  const reply = await rowan.perform(verb, path, { body });
  expect(reply.status, reply.text).toBe(status);
  return reply;
}

/** All messages of an error body, inner ones included. */
function messages(json: unknown): string {
  return JSON.stringify(json);
}

const X_AND_Y = "SELECT {x} AS features, y = 'yes' AS label FROM";

const MISTAKES: readonly [what: string, body: () => object, status: number, says: RegExp][] = [
  ['a missing file', () => importOf('none.csv', 'out'), 400, /No such file or directory/],
  ['a directory', () => importOf('.', 'out'), 400, /directory/i],
  ['no scheme', () => importOf('x', 'out', { dataFileUrl: 'x.csv' }), 400, /without scheme/],
  [
    'a long delimiter',
    () => importOf('good.csv', 'out', { delimiter: '::' }),
    400,
    /one character/,
  ],
  [
    'the wrong delimiter',
    () => importOf('good.csv', 'out', { delimiter: ';', select: 'x' }),
    400,
    /Unknown column name/,
  ],
  [
    'a header with equal names',
    () => importOf('twice.csv', 'out'),
    400,
    /Duplicate column name in CSV file/,
  ],
  [
    'a line that is too short',
    () => importOf('ragged.csv', 'out'),
    400,
    /not enough columns.*"lineNumber":4/,
  ],
  [
    'an unknown parameter',
    () => importOf('good.csv', 'out', { delimeter: ';' }),
    400,
    /unknown field/i,
  ],
  [
    'a label with one class',
    () => forestOf('SELECT {x} AS features, one AS label FROM good'),
    400,
    /true in all 60 rows/,
  ],
  [
    'a label with three',
    () => forestOf('SELECT {x} AS features, three AS label FROM good'),
    400,
    /more than two values \(0, 1, 2.*for example three = 0 AS label/,
  ],
  [
    'a label with three texts',
    () => forestOf('SELECT {x} AS features, word AS label FROM good'),
    400,
    /for example word = 'it''s' AS label/,
  ],
  ['an empty dataset', () => forestOf(`${X_AND_Y} nothing`), 400, /dataset was empty/],
  [
    'a filter that keeps nothing',
    () => forestOf(`${X_AND_Y} good WHERE x > 1000`),
    400,
    /all rows were filtered/,
  ],
  [
    'a label column that is not there',
    () => forestOf('SELECT {x} AS features, nowhere AS label FROM good'),
    400,
    /label column doesn't exist/,
  ],
  [
    'a label among the features',
    () => forestOf('SELECT {*} AS features, y AS label FROM good'),
    400,
    /both label and feature/,
  ],
  [
    'an unknown dataset',
    () => forestOf(`${X_AND_Y} elsewhere`),
    404,
    /dataset entry 'elsewhere' doesn't exist/,
  ],
  ['a syntax error', () => forestOf('SELEC {x} AS features'), 400, /did you mean SELECT/],
  [
    'a model file that cannot be',
    () => forestOf(`${X_AND_Y} good`, { modelFileUrl: 'file:///dev/null/m.cls' }),
    400,
    /Error when trying to write/,
  ],
  [
    'an option out of range',
    () => forestOf(`${X_AND_Y} good`, { featureVectorSamplingProp: 7 }),
    400,
    /featureVectorSamplingProp/,
  ],
];

describe('a procedure given', () => {
  test.each(MISTAKES)('%s answers clearly and leaves nothing', async (_, body, status, says) => {
    const files = await readdir(dir);
    const reply = await expectStatus('PUT', '/v1/procedures/mistake', body(), status);
    expect(messages(reply.json)).toMatch(says);
    expect(await readdir(dir)).toEqual(files);
    expect((await rowan.get('/v1/datasets/out')).status).toBe(404);
    expect((await rowan.get('/v1/functions/f')).status).toBe(404);
    expect(
      await rowan.query('SELECT count(*) FROM good', { headers: false, rowNames: false }),
    ).toEqual([[60]]);
  });
});

test('an empty file is an empty dataset', async () => {
  await expectStatus('PUT', '/v1/procedures/load_empty', importOf('empty.csv', 'empty'), 201);
  expect(await rowan.query('SELECT * FROM empty', { headers: false })).toEqual([]);
});

test('a body that is no JSON names the line and column', async () => {
  const body = new TextEncoder().encode('{"type":\n x}');
  const reply = await expectStatus('PUT', '/v1/procedures/p', body, 400);
  expect(messages(reply.json)).toMatch(/line 2, column 2/);
});

test('ids may hold slashes, quotes and anything else', async () => {
  for (const id of ['a/b', 'say "x"', "it's", 'ü 😀', '..', '%2F']) {
    const path = `/v1/datasets/${encodeURIComponent(id)}`;
    await expectStatus('PUT', path, { type: 'sparse.mutable' }, 201);
    const name = `"${id.replaceAll('"', '""')}"`;
    expect(await rowan.query(`SELECT * FROM ${name}`, { headers: false })).toEqual([]);
    await expectStatus('DELETE', path, undefined, 204);
  }
});

test('a model file that was cut short is refused with its name', async () => {
  const body = forestOf(`${X_AND_Y} good`, { modelFileUrl: urlOf('whole.cls'), functionName: '' });
  await expectStatus('PUT', '/v1/procedures/train', body, 201);
  const size = (await readFile(join(dir, 'whole.cls'))).length;
  for (const length of [0, 1, size >> 1, size - 1]) {
    await truncate(join(dir, 'whole.cls'), length);
    const reply = await expectStatus(
      'PUT',
      '/v1/functions/cut',
      { type: 'classifier', params: { modelFileUrl: urlOf('whole.cls') } },
      400,
    );
    expect(messages(reply.json)).toContain('whole.cls');
  }
});

test('an unknown column is null, and in a function call too', async () => {
  expect(
    await rowan.query('SELECT nowhere + 1 AS z FROM good LIMIT 1', {
      format: 'aos',
      rowNames: false,
    }),
  ).toEqual([{ z: null }]);
});
