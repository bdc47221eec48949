// Models of other programs as classifiers: ONNX files against what onnxruntime says of them. The files are
// made by test/reference/onnx-models.py.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { decodeOnnx, encodeOnnx, type OnnxModel } from '../../../../src/learn/onnx/model.ts';

const FOLDER = new URL('../../../reference/onnx-models/', import.meta.url);

interface Expected {
  readonly input: string;
  readonly rows: readonly (readonly (number | null)[])[];
  readonly outputs: Readonly<Record<string, readonly unknown[]>>;
}

const EXPECTED: Readonly<Record<string, Expected>> = JSON.parse(
  readFileSync(new URL('expected.json', FOLDER), 'utf8'),
);

let rowan: Rowan;
const scratch = mkdtempSync(join(tmpdir(), 'rowan-import-'));

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});

afterAll(async () => {
  await rowan?.close();
  rmSync(scratch, { recursive: true });
});

function bytesOf(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.onnx`, FOLDER)));
}

async function run(id: string, type: string, params: object) {
  await rowan.put(`/v1/procedures/${id}`, { type, params });
  return rowan.post(`/v1/procedures/${id}/runs`, {});
}

/** A file of the folder, or bytes that are put where the service can read them. */
async function importFile(id: string, source: string | Uint8Array, params: object = {}) {
  let inputFileUrl = new URL(`${source}.onnx`, FOLDER).href;
  if (typeof source !== 'string') {
    const path = join(scratch, `${id}.onnx`);
    writeFileSync(path, source);
    inputFileUrl = pathToFileURL(path).href;
  }
  const modelFileUrl = `mem://${id}.cls`;
  return run(`import_${id}`, 'model.import', {
    ...{ inputFileUrl, modelFileUrl, functionName: id, ...params },
  });
}

async function apply(id: string, inputs: readonly object[]): Promise<readonly unknown[]> {
  const reply = await rowan.post(`/v1/functions/${id}/batch`, { input: inputs });
  expect([reply.status, reply.text]).toEqual([200, expect.any(String)]);
  return reply.json as readonly unknown[];
}

/** Scores of all rows; labels in the order of the file's classes. */
async function scoresOf(id: string, { input, rows }: Expected): Promise<number[][]> {
  const outputs = await apply(
    id,
    rows.map((row) => ({ features: { [input]: row } })),
  );
  return outputs.map((output) => {
    const { score, scores } = output as { score?: number; scores?: Record<string, number> };
    return score === undefined ? Object.values(scores ?? {}) : [score];
  });
}

const IMPORTED = Object.keys(EXPECTED).filter((name) => name !== 'network');

describe.each(IMPORTED)('%s', (name) => {
  const expected = EXPECTED[name] as Expected;
  const id = name.replaceAll('-', '_');

  test('scores as onnxruntime does', async () => {
    const reply = await importFile(id, name);
    expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
    const scores = await scoresOf(id, expected);
    const wanted = Object.values(expected.outputs).at(-1) as readonly (number[] | object)[];
    for (const [row, own] of scores.entries()) {
      const all = Object.values(wanted[row] as object) as number[];
      // Of the classes 0 and 1 a boolean model tells the score of 1.
      const theirs = own.length === 1 ? all.slice(-1) : all;
      expect(own).toHaveLength(theirs.length);
      for (const [k, score] of own.entries()) {
        const scale = Math.max(1, Math.abs(theirs[k] as number));
        expect(score / scale).toBeCloseTo((theirs[k] as number) / scale, 5);
      }
    }
  });

  test('is explained: bias and contributions add up', async () => {
    const put = await rowan.put(`/v1/functions/${id}_explain`, {
      type: 'classifier.explain',
      params: { modelFileUrl: `mem://${id}.cls`, method: 'treeshap' },
    });
    expect([put.status, put.text]).toEqual([201, expect.any(String)]);
    const rows = expected.rows.slice(0, 3);
    const isCategorical = id.endsWith('iris');
    const inputs = rows.map((row) => ({ features: { [expected.input]: row }, label: 1 }));
    const explained = await apply(`${id}_explain`, inputs);
    const scores = await scoresOf(id, { ...expected, rows });
    for (const [row, output] of explained.entries()) {
      const { bias, explanation } = output as { bias: number; explanation: object };
      const sum = (value: unknown): number =>
        typeof value === 'number'
          ? value
          : Object.values((value ?? {}) as object).reduce((total, each) => total + sum(each), 0);
      const margin = bias + sum(explanation);
      expect(Number.isFinite(margin)).toBe(true);
      const [score = 0] = scores[row] ?? [];
      // Contributions of models behind a link add up to what the link is applied to.
      const isLinked = /boosting|logistic|xgboost$|lightgbm/.test(name);
      if (isCategorical) continue;
      const answer = isLinked ? 1 / (1 + Math.exp(-margin)) : margin;
      expect(answer / Math.max(1, Math.abs(score))).toBeCloseTo(
        score / Math.max(1, Math.abs(score)),
        9,
      );
    }
  });
});

test('names of columns, modes and cards', async () => {
  const names = ['age', 'sex', 'bmi', 'bp', 's1', 's2', 's3', 's4', 's5', 's6'];
  await importFile('named', 'linear', { featureNames: names });
  const { input, outputs, rows } = EXPECTED.linear as Expected;
  expect(input).toBe('X');
  const features = Object.fromEntries(names.map((name, i) => [name, rows[0]?.[i]]));
  const [first] = await apply('named', [{ features }]);
  const [[[wanted]]] = Object.values(outputs) as [[[number]]];
  const { score } = first as { readonly score: number };
  expect(score / wanted).toBeCloseTo(1, 5);
  const card = await rowan.get('/v1/functions/named/card');
  expect(card.json).toMatchObject({
    ...{ kind: 'classifier', mode: 'regression', algorithm: 'glz', trainingQuery: null },
    importedFrom: expect.stringContaining('linear.onnx'),
    parentProcedure: 'import_named',
  });
  await importFile('classes', 'forest-classifier', { mode: 'categorical' });
  const { rows: list } = EXPECTED['forest-classifier'] as Expected;
  const [output] = await apply('classes', [{ features: { X: list[0] } }]);
  const { scores } = output as { readonly scores: Record<string, number> };
  expect(Object.keys(scores)).toEqual(['0', '1']);
  expect((scores['0'] as number) + (scores['1'] as number)).toBeCloseTo(1, 6);
});

test('more thresholds of a column than a byte can tell', async () => {
  // Trees x < i for i below 600: the score is how many are true; numbers are rounded to floats.
  const count = 600;
  const ids = [...Array(count).keys()];
  const of = (value: (i: number) => number) => ids.flatMap((i) => [value(i), 0, 0]);
  const model: OnnxModel = {
    ...decodeOnnx(bytesOf('tree-regressor')),
    nodes: [
      {
        ...{ op: 'TreeEnsembleRegressor', domain: 'ai.onnx.ml', inputs: ['x'], outputs: ['y'] },
        attributes: {
          n_targets: 1,
          nodes_treeids: ids.flatMap((i) => [i, i, i]),
          nodes_nodeids: ids.flatMap(() => [0, 1, 2]),
          nodes_featureids: of(() => 0),
          nodes_modes: ids.flatMap((i) => [
            i % 2 === 0 ? 'BRANCH_LT' : 'BRANCH_GTE',
            'LEAF',
            'LEAF',
          ]),
          nodes_values_as_tensor: {
            ...{ type: 11, dims: [3 * count], numbers: Float64Array.from(of((i) => i / 10)) },
          },
          nodes_truenodeids: of((i) => (i % 2 === 0 ? 1 : 2)),
          nodes_falsenodeids: of((i) => (i % 2 === 0 ? 2 : 1)),
          target_treeids: ids,
          target_nodeids: ids.map(() => 1),
          target_ids: ids.map(() => 0),
          target_weights: ids.map(() => 1),
        },
      },
    ],
    inputs: [{ name: 'x', type: 11, dims: [-1, 1] }],
    outputs: [{ name: 'y', type: 1, dims: [-1, 1] }],
    constants: new Map(),
  };
  const reply = await importFile('many', encodeOnnx(model, 'test'));
  expect([reply.status, reply.text]).toEqual([201, expect.any(String)]);
  const inputs = [-1, 0, 0.05, 25.35, 25.4, 25.45, 30, 50.8, 59.85, 60];
  const outputs = await apply(
    'many',
    inputs.map((x) => ({ features: { x } })),
  );
  const wanted = inputs.map((x) => ids.filter((i) => x < i / 10).length);
  expect(outputs).toEqual(wanted.map((score) => ({ score })));
  // A row alone is scored by another way through the same codes.
  const single = await rowan.post('/v1/functions/many/batch', {
    input: [{ features: { x: 25.45 } }],
  });
  expect(single.json).toEqual([{ score: wanted[5] }]);
  // Written again it still scores so.
  await run('again', 'model.export', {
    modelFileUrl: 'mem://many.cls',
    outputFileUrl: 'mem://many.onnx',
  });
  await run('back', 'model.import', {
    inputFileUrl: 'mem://many.onnx',
    modelFileUrl: 'mem://back.cls',
    functionName: 'back',
  });
  expect(
    await apply(
      'back',
      inputs.map((x) => ({ features: { x } })),
    ),
  ).toEqual(wanted.map((score) => ({ score })));
});

describe('bad files', () => {
  async function refused(id: string, source: string | Uint8Array, params: object = {}) {
    const reply = await importFile(id, source, params);
    expect(reply.status).toBe(400);
    // Nothing is left: no function, no file.
    expect((await rowan.get(`/v1/functions/${id}`)).status).toBe(404);
    const put = await rowan.put(`/v1/functions/${id}_file`, {
      type: 'classifier',
      params: { modelFileUrl: `mem://${id}.cls` },
    });
    expect(put.status).toBeGreaterThanOrEqual(400);
    return reply.text;
  }

  test('a network names the operator', async () => {
    expect(await refused('network', 'network')).toMatch(
      /operator Relu, which is not imported here/,
    );
  });

  test('other files', async () => {
    expect(await refused('text', new TextEncoder().encode('a,b\n1,2\n'))).toMatch(/ONNX/);
    expect(await refused('empty', new Uint8Array())).toMatch(/no graph/);
    const own = new TextEncoder().encode('{"format":"rowan.model","kind":"kmeans"}');
    expect(await refused('own', own)).toMatch(/is a model file of Rowan, not ONNX/);
  });

  test('names and modes that do not fit', async () => {
    expect(await refused('few', 'linear', { featureNames: ['a', 'b'] })).toMatch(
      /featureNames: 2 names for 10 columns of the model's inputs: 'X' has 10/,
    );
    const twice = Array.from({ length: 10 }, () => 'a');
    expect(await refused('twice', 'linear', { featureNames: twice })).toMatch(/'a' is there twice/);
    expect(await refused('mode', 'forest-iris', { mode: 'boolean' })).toMatch(
      /mode: boolean does not fit the model, which tells 3 classes/,
    );
    expect(await refused('number', 'linear', { mode: 'categorical' })).toMatch(
      /does not name classes/,
    );
  });

  test('every cut and many edits of a file end in a 400 or a model', async () => {
    for (const name of ['xgboost', 'logistic-iris']) {
      const bytes = bytesOf(name);
      for (let i = 0; i < 24; i++) {
        const place = Math.floor((bytes.length * (i + 1)) / 25);
        const cut = bytes.slice(0, place);
        const edited = bytes.slice();
        edited[place] = (edited[place] as number) ^ (1 << (i % 8));
        for (const variant of [cut, edited]) {
          const reply = await importFile('damaged', variant);
          expect([201, 400]).toContain(reply.status);
          if (reply.status === 400) expect(reply.text).toMatch(/onnx|mode|featureNames/i);
        }
      }
    }
  });

  test('trees in a circle, or of other columns', async () => {
    const model = decodeOnnx(bytesOf('tree-regressor'));
    const changed = (change: Record<string, readonly number[]>): Uint8Array => {
      const [node] = model.nodes;
      if (node === undefined) throw new Error('the model has a node');
      const attributes = Object.fromEntries(
        Object.entries({ ...node.attributes, ...change }).map(([key, value]) => {
          const isReal =
            Array.isArray(value) &&
            value.some((each) => typeof each === 'number' && !Number.isInteger(each));
          if (!isReal) return [key, value];
          const numbers = Float64Array.from(value as number[]);
          return [`${key}_as_tensor`, { type: 11, dims: [numbers.length], numbers }];
        }),
      );
      return encodeOnnx({ ...model, nodes: [{ ...node, attributes }] }, 'test');
    };
    const attributes = model.nodes[0]?.attributes as Record<string, number[]>;
    const trueIds = [...(attributes.nodes_truenodeids as number[])];
    trueIds[1] = 0;
    expect(await refused('circle', changed({ nodes_truenodeids: trueIds }))).toMatch(
      /a tree of the ensemble is a circle/,
    );
    const featureIds = (attributes.nodes_featureids as number[]).map((id) => id + 1_000_000);
    expect(await refused('columns', changed({ nodes_featureids: featureIds }))).toMatch(
      /a tree tests column 100000\d of 10/,
    );
    const outputs = (attributes.target_ids as number[]).map(() => 7);
    expect(await refused('outputs', changed({ target_ids: outputs }))).toMatch(/output 7 of 1/);
  });
});
