import { afterAll, describe, expect, test } from 'vitest';
import { fitDecisionTree } from '../../../../src/learn/decision-tree/decision-tree.ts';
import type { UpdateAlgorithm } from '../../../../src/learn/decision-tree/tree.ts';
import { buildMatrix } from '../../../../src/learn/feature/matrix.ts';
import type { SourceColumn } from '../../../../src/learn/feature/source.ts';
import { fitForest } from '../../../../src/learn/forest/forest.ts';
import { type ClassifierModel, hasUsableFeature } from '../../../../src/learn/model/classifier.ts';
import {
  classifierFromJson,
  classifierToJson,
} from '../../../../src/learn/model/classifier-json.ts';
import { modelDocument } from '../../../../src/learn/model/document.ts';
import { prepare, preparedSpans } from '../../../../src/learn/model/prepare.ts';
import { scoreColumns } from '../../../../src/learn/model/score.ts';
import { equalizedWeights } from '../../../../src/learn/weight.ts';
import { FOREST_DEFAULTS, flights, numbers, testArenas, testContext, texts } from '../support.ts';

const arenas = testArenas();
const context = testContext(arenas);
const { workspace } = context;

function treeModel(
  sources: readonly SourceColumn[],
  labels: readonly number[],
  updateAlgorithm: UpdateAlgorithm = 'prob',
  names: readonly string[] = [],
): ClassifierModel {
  const rowCount = labels.length;
  const labelCount = Math.max(2, names.length);
  const matrix = buildMatrix(workspace, sources, { rowCount }, { coding: 'each', arena: 0 });
  const target = { kind: 'classes', labels: Uint16Array.from(labels), labelCount } as const;
  const data = { matrix, target, weights: equalizedWeights(labels, labelCount, 0) };
  const options = { maxDepth: -1, updateAlgorithm, randomFeatureProportion: 1, randomSeed: 1 };
  const tree = fitDecisionTree(context, data, options);
  arenas.free(matrix.span);
  return {
    mode: names.length > 0 ? 'categorical' : 'boolean',
    labels: names,
    features: matrix.features,
    algorithm: { type: 'decision_tree', tree, updateAlgorithm },
  };
}

function forestModel(): ClassifierModel {
  const { sources, labels } = flights(2000, 1);
  const rows = { rowCount: 2000, targets: Float64Array.from(labels) };
  const matrix = buildMatrix(workspace, sources, rows, { coding: 'rank', arena: 0 });
  const options = { ...FOREST_DEFAULTS, featureVectorSamplings: 2, featureSamplings: 3 };
  const ensemble = fitForest(
    context,
    { matrix, labels },
    { ...options, featureSamplingProp: 0.7, maxDepth: 6 },
  );
  arenas.free(matrix.span);
  return {
    mode: 'boolean',
    labels: [],
    features: matrix.features,
    algorithm: { type: 'random_forest', ensemble },
  };
}

const forest = forestModel();
const spansOf = ({ algorithm }: ClassifierModel) =>
  algorithm.type === 'random_forest' ? algorithm.ensemble.trees.map(({ span }) => span) : [];
afterAll(() => {
  for (const span of spansOf(forest)) arenas.free(span);
});

function scores(model: ClassifierModel, sources: readonly SourceColumn[], count: number) {
  const prepared = prepare(workspace, model.features, model.algorithm, 0);
  const found = scoreColumns(context, { model, prepared }, sources, count);
  if (model.algorithm.type === 'decision_tree') {
    for (const span of preparedSpans(prepared)) arenas.free(span);
  }
  return found;
}

function throughFile(model: ClassifierModel): ClassifierModel {
  const text = JSON.stringify(classifierToJson(workspace, model));
  return classifierFromJson(workspace, JSON.parse(text), 0);
}

const MIXED_SOURCES = [
  texts('color', ['red', 'red', 'blue', 'green', null, 'blue']),
  numbers('size', [1, 2, 3, null, 5, 6]),
  numbers('unseen', [null, null, null, null, null, null]),
];

describe('a model file', () => {
  test('gives the same tree again', () => {
    const model = treeModel(MIXED_SOURCES, [1, 1, 0, 0, 1, 0], 'gentle');
    const again = throughFile(model);
    expect(again).toEqual(model);
    expect(scores(again, MIXED_SOURCES, 6)).toEqual(scores(model, MIXED_SOURCES, 6));
  });

  test('gives a forest with the same scores, and the same file again', () => {
    const unseen = flights(1000, 3);
    const again = throughFile(forest);
    expect(scores(again, unseen.sources, 1000)).toEqual(scores(forest, unseen.sources, 1000));
    expect(classifierToJson(workspace, again)).toEqual(classifierToJson(workspace, forest));
    for (const span of spansOf(again)) arenas.free(span);
  });

  test('says first what it is', () => {
    const text = JSON.stringify(classifierToJson(workspace, forest));
    expect(text).toMatch(
      /^\{"format":"rowan.model","kind":"classifier","version":1,"columnNames":/,
    );
  });

  const file = () => JSON.parse(JSON.stringify(classifierToJson(workspace, forest)));
  test.each([
    ['something else', () => ({ hello: 1 }), "its format is not 'rowan.model'"],
    ['null', () => null, "its format is not 'rowan.model'"],
    ['another kind', () => ({ ...file(), kind: 'kmeans' }), "kind 'kmeans' where 'classifier'"],
    ['another version', () => ({ ...file(), version: 9 }), 'version 9; version 1 is read here'],
    ['another mode', () => ({ ...file(), mode: 'x' }), 'mode is not one of boolean, regression'],
    ['missing features', () => ({ ...file(), features: [] }), 'features is not one a column name'],
  ])('that is %s is refused', (_, content, message) => {
    expect(() => classifierFromJson(workspace, content(), 0)).toThrow(message);
  });

  test('whose nodes lead out of their tree is refused and leaves no memory behind', () => {
    const before = arenas.usedBytes;
    const broken = file();
    const last = broken.algorithm.trees.at(-1);
    const nodes = new Uint32Array(new Uint8Array(Buffer.from(last.nodes.b64, 'base64')).buffer);
    nodes[1] = 1_000_000;
    last.nodes.b64 = Buffer.from(nodes.buffer).toString('base64');
    const read = () => classifierFromJson(workspace, broken, 0);
    expect(read).toThrow('node 0 is not linked to nodes of its tree');
    expect(arenas.usedBytes).toBe(before);
  });

  test('is left at any check, without memory behind', () => {
    const before = arenas.usedBytes;
    const content = file();
    const readAndCount = (checkMax: number) => {
      let checkCount = 0;
      const checkCancelled = () => {
        if (++checkCount === checkMax) throw new Error('cancelled');
      };
      const read = () => classifierFromJson(workspace, content, 0, { checkCancelled });
      if (checkMax > 0) expect(read).toThrow('cancelled');
      else for (const span of spansOf(read())) arenas.free(span);
      expect(arenas.usedBytes).toBe(before);
      return checkCount;
    };
    const checkCount = readAndCount(0);
    expect(checkCount).toBeGreaterThan(spansOf(forest).length);
    for (let check = 1; check <= checkCount; check++) expect(readAndCount(check)).toBe(check);
  });

  test('whose tree links back is refused', () => {
    const model = treeModel([numbers('x', [1, 2])], [0, 1]);
    const broken = JSON.parse(JSON.stringify(classifierToJson(workspace, model)));
    const children = Int32Array.of(0, 2, -1, -1, -1, -1, -1, -1, -1);
    broken.algorithm.tree.children.b64 = Buffer.from(children.buffer).toString('base64');
    expect(() => classifierFromJson(workspace, broken, 0)).toThrow('node 0 is not a valid test');
  });
});

describe('the details of a model', () => {
  test('show a decision tree', () => {
    const model = treeModel([numbers('x', [1, 2, 3, 11, 12, 13])], [0, 0, 0, 1, 1, 1]);
    expect(modelDocument(workspace, model)).toEqual({
      type: 'DecisionTree',
      params: {
        encoding: 'PROB',
        tree: {
          root: {
            type: 'node',
            split: { feature: 'x', op: 'LESS', value: '7' },
            z: 0,
            examples: 6,
            pred: [0.5, 0.5],
            true: { type: 'leaf', examples: 3, pred: [1, 0] },
            false: { type: 'leaf', examples: 3, pred: [0, 1] },
            missing: { type: 'leaf', examples: 0, pred: [0.5, 0.5] },
          },
        },
      },
    });
  });

  test('show tests of categories and of presence', () => {
    const document = JSON.stringify([
      modelDocument(workspace, treeModel([texts('c', ['a', 'b', 'b'])], [1, 0, 0], 'gentle')),
      modelDocument(workspace, treeModel([numbers('x', [5, null, null])], [1, 0, 0], 'normal')),
    ]);
    expect(document).toContain('"split":{"feature":"c","op":"EQUAL","value":"a"}');
    expect(document).toContain('"split":{"feature":"x","op":"PRESENT"}');
    expect(document).toContain('"encoding":"PM_ONE"');
    expect(document).toContain('"encoding":"PM_INF"');
    expect(document).toContain('"pred":[-1,1]');
  });

  test('show a forest as a committee of trees', () => {
    const { type, params } = modelDocument(workspace, forest) as {
      type: string;
      params: { classifiers: { params: { tree: { root: TreeNode } } }[]; weights: number[] };
    };
    expect(type).toBe('Committee');
    expect(params.classifiers.length).toBe(6);
    expect(params.weights).toEqual(new Array(6).fill(1 / 6));
    const operators = new Set<string>();
    const visit = (node: TreeNode) => {
      if (node.type !== 'node') return;
      operators.add(node.split.op);
      expect(node.true.examples + node.false.examples).toBe(node.examples);
      expect(node.pred[0] + node.pred[1]).toBeCloseTo(1, 12);
      expect(node.z).toBeLessThanOrEqual(1);
      visit(node.true);
      visit(node.false);
    };
    for (const { params: tree } of params.classifiers) visit(tree.tree.root);
    expect(operators.has('LESS') && operators.has('IN')).toBe(true);
  });
});

interface TreeNode {
  readonly type: string;
  readonly split: { readonly op: string };
  readonly z: number;
  readonly examples: number;
  readonly pred: readonly [number, number];
  readonly true: TreeNode;
  readonly false: TreeNode;
}

test('trees for two labels say the second and mirror it for the first', () => {
  const sources = [numbers('x', [0, 0, 0, 1])];
  const prob = treeModel(sources, [0, 0, 1, 1], 'prob', ['"no"', '"yes"']);
  expect([...scores(prob, [numbers('x', [0])], 1)]).toEqual([2 / 3, 1 / 3].map(nearly));
  const gentle = treeModel(sources, [0, 0, 1, 1], 'gentle', ['"no"', '"yes"']);
  expect([...scores(gentle, [numbers('x', [0])], 1)]).toEqual([1 / 3, -1 / 3].map(nearly));
});

const nearly = (value: number) => expect.closeTo(value, 12);

test('a model can be without any usable feature', () => {
  const model = treeModel([numbers('x', [null, null])], [0, 1]);
  expect(hasUsableFeature(model)).toBe(false);
  expect(hasUsableFeature(forest)).toBe(true);
  expect([...scores(model, [numbers('x', [3])], 1)]).toEqual([0.5]);
});
