// What learners found, in model files.
import { UPDATE_ALGORITHMS } from '../decision-tree/tree.ts';
import type { DesignColumns } from '../design/columns.ts';
import type { Feature } from '../feature/feature.ts';
import { type GbtModel, OBJECTIVES } from '../gbt/model.ts';
import { LINKS } from '../glz/link.ts';
import type { GlzModel } from '../glz/model.ts';
import type { NaiveBayesModel } from '../naive-bayes/model.ts';
import { ACTIVATIONS, type PerceptronLayer, type PerceptronModel } from '../perceptron/model.ts';
import type { JobContext, Workspace } from '../workspace.ts';
import { decodeArray, encodeArray } from './base64.ts';
import {
  type Algorithm,
  type CommitteeModel,
  modelEnsembles,
  type OneVsAllModel,
} from './classifier.ts';
import {
  invalidMember,
  type JsonObject,
  readChoice,
  readList,
  readNumber,
  readObject,
} from './container.ts';
import { ensembleFromJson, ensembleToJson, treeFromJson, treeToJson } from './tree-json.ts';

const TYPES = [
  'decision_tree',
  'stump',
  'random_forest',
  'committee',
  'boosted_stumps',
  'one_vs_all',
  'glz',
  'naive_bayes',
  'perceptron',
  'fasttext',
  'gbt',
  'null',
] as const;

export function algorithmToJson(workspace: Workspace, algorithm: Algorithm): JsonObject {
  const { type } = algorithm;
  switch (algorithm.type) {
    case 'decision_tree': {
      const { updateAlgorithm, tree } = algorithm;
      return { type, updateAlgorithm, tree: treeToJson(tree) };
    }
    case 'stump': {
      const { updateAlgorithm, tree, z } = algorithm;
      return { type, updateAlgorithm, z, tree: treeToJson(tree) };
    }
    case 'random_forest':
      return { type, ...ensembleToJson(workspace, algorithm.ensemble) };
    case 'committee': {
      const members = algorithm.members.map((member) => algorithmToJson(workspace, member));
      return { type, weights: algorithm.weights, members };
    }
    case 'boosted_stumps': {
      const { output, committee } = algorithm;
      return { type, output, committee: algorithmToJson(workspace, committee) };
    }
    case 'one_vs_all': {
      const members = algorithm.members.map((member) => algorithmToJson(workspace, member));
      return { type, members, calibrations: algorithm.calibrations ?? null };
    }
    case 'glz':
      return {
        ...{ type, link: algorithm.link, decode: algorithm.decode, addBias: algorithm.addBias },
        ...(algorithm.jointly === undefined ? {} : { jointly: algorithm.jointly }),
        columns: columnsToJson(algorithm.columns),
        weights: algorithm.weights.map(encodeArray),
        means: encodeArray(algorithm.means),
      };
    case 'naive_bayes': {
      const tests = algorithm.tests.map((test) => ({ ...test, logs: encodeArray(test.logs) }));
      return { type, priors: encodeArray(algorithm.priors), tests };
    }
    case 'perceptron': {
      const { columns, means, layers, low, high, isRegression } = algorithm;
      return {
        ...{ type, low, high, isRegression, means: encodeArray(means) },
        columns: columnsToJson(columns),
        layers: layers.map((layer) => ({
          ...layer,
          weights: encodeArray(layer.weights),
          biases: encodeArray(layer.biases),
        })),
      };
    }
    case 'fasttext': {
      const { dimensionCount, positions, inputs, outputs } = algorithm;
      return {
        ...{ type, dimensionCount, positions: encodeArray(positions) },
        ...{ inputs: encodeArray(inputs), outputs: encodeArray(outputs) },
      };
    }
    case 'gbt': {
      const { objective, baseScore, learningRate, output, bestIteration, gains } = algorithm;
      return {
        ...{ type, objective, baseScore, learningRate, output, bestIteration },
        gains: gains.map(encodeArray),
        ...ensembleToJson(workspace, algorithm.ensemble),
      };
    }
    case 'null':
      return { type };
  }
}

/** What a model's parts must fit. */
interface ModelShape {
  readonly features: readonly Feature[];
  readonly labelCount: number;
}

/** @throws DATA_ERROR when it is not what algorithmToJson writes */
export function algorithmFromJson(
  workspace: Workspace,
  value: unknown,
  shape: ModelShape,
  arena: number,
  scope: JobContext,
): Algorithm {
  const json = readObject(value, 'algorithm');
  const { features } = shape;
  const type = readChoice(json.type, 'type', TYPES);
  const inner = (member: unknown, own = shape) =>
    algorithmFromJson(workspace, member, own, arena, scope);
  switch (type) {
    case 'decision_tree':
    case 'stump': {
      const updateAlgorithm = readChoice(
        json.updateAlgorithm,
        'updateAlgorithm',
        UPDATE_ALGORITHMS,
      );
      const tree = treeFromJson(json.tree, features);
      if (tree.width !== 1 && tree.width !== shape.labelCount) {
        throw invalidMember('width', 'the number of labels');
      }
      return type === 'stump'
        ? { type, updateAlgorithm, tree, z: readNumber(json.z, 'z') }
        : { type, updateAlgorithm, tree };
    }
    case 'random_forest':
      return { type, ensemble: ensembleFromJson(workspace, json, features, arena, scope) };
    case 'committee':
      return committeeFromJson(workspace, json, inner);
    case 'boosted_stumps': {
      const committee = inner(json.committee);
      if (committee.type !== 'committee') throw invalidMember('committee', 'a committee');
      const output = readChoice(json.output, 'output', ['raw', 'logit', 'logit_norm'] as const);
      return { type, committee, output };
    }
    case 'one_vs_all':
      return oneVsAllFromJson(json, shape, inner);
    case 'glz':
      return glzFromJson(json, shape);
    case 'naive_bayes':
      return bayesFromJson(json, shape);
    case 'perceptron':
      return perceptronFromJson(json, features);
    case 'fasttext': {
      const dimensionCount = readNumber(json.dimensionCount, 'dimensionCount', 1);
      const positions = decodeArray(json.positions, 'i32', 'positions');
      const inputs = decodeArray(json.inputs, 'f32', 'inputs');
      const outputs = decodeArray(json.outputs, 'f32', 'outputs');
      const vectorCount = inputs.length / dimensionCount;
      const fits =
        positions.length === features.length &&
        positions.every((position) => position < vectorCount) &&
        outputs.length === shape.labelCount * dimensionCount;
      if (!fits) throw invalidMember('positions', 'about known vectors');
      return { type, dimensionCount, positions, inputs, outputs };
    }
    case 'gbt':
      return gbtFromJson(workspace, json, features, arena, scope);
    case 'null':
      return { type };
  }
}

function committeeFromJson(
  workspace: Workspace,
  json: JsonObject,
  inner: (member: unknown) => Algorithm,
): CommitteeModel {
  const weights = readList(json, 'weights').map((weight) => readNumber(weight, 'weights'));
  const members: Algorithm[] = [];
  try {
    for (const member of readList(json, 'members')) members.push(inner(member));
    if (members.length !== weights.length) throw invalidMember('weights', 'one number a member');
  } catch (thrown) {
    for (const { trees } of members.flatMap(modelEnsembles)) {
      for (const { span } of trees) workspace.memory.free(span);
    }
    throw thrown;
  }
  return { type: 'committee', members, weights };
}

function oneVsAllFromJson(
  json: JsonObject,
  shape: ModelShape,
  inner: (member: unknown, shape: ModelShape) => Algorithm,
): OneVsAllModel {
  const members = readList(json, 'members').map((member) =>
    inner(member, { ...shape, labelCount: 2 }),
  );
  if (members.length !== shape.labelCount) throw invalidMember('members', 'one a label');
  if (json.calibrations === null) return { type: 'one_vs_all', members };
  const calibrations = readList(json, 'calibrations').map((pair) => {
    const [slope, constant] = Array.isArray(pair) ? pair : [];
    return [readNumber(slope, 'calibrations'), readNumber(constant, 'calibrations')] as const;
  });
  if (calibrations.length !== members.length) throw invalidMember('calibrations', 'one a label');
  return { type: 'one_vs_all', members, calibrations };
}

function columnsToJson({ features, extracts, categories }: DesignColumns): JsonObject {
  return {
    features: encodeArray(features),
    extracts: encodeArray(extracts),
    categories: encodeArray(categories),
  };
}

function columnsFromJson(value: unknown, features: readonly Feature[]): DesignColumns {
  const json = readObject(value, 'columns');
  const columns = {
    features: decodeArray(json.features, 'i32', 'columns'),
    extracts: decodeArray(json.extracts, 'u8', 'columns'),
    categories: decodeArray(json.categories, 'i32', 'columns'),
  };
  const fits = columns.features.every((index, column) => {
    const feature = features[index];
    if (feature === undefined || feature.kind === 'unused') return false;
    const extract = columns.extracts[column] as number;
    if (feature.kind === 'numeric') return extract < 3;
    return extract === 3 && (columns.categories[column] as number) in feature.categories;
  });
  const { length } = columns.features;
  if (!fits || columns.extracts.length !== length || columns.categories.length !== length) {
    throw invalidMember('columns', 'about known features');
  }
  return columns;
}

function glzFromJson(json: JsonObject, { features, labelCount }: ModelShape): GlzModel {
  const columns = columnsFromJson(json.columns, features);
  const count = columns.features.length;
  const weights = readList(json, 'weights').map((row) => decodeArray(row, 'f64', 'weights'));
  const means = decodeArray(json.means, 'f64', 'means');
  const fits =
    weights.length === labelCount &&
    weights.every(({ length }) => length === count + 1) &&
    means.length === count;
  if (!fits) throw invalidMember('weights', 'a coefficient for each label and column');
  return {
    type: 'glz',
    link: readChoice(json.link, 'link', LINKS),
    decode: readChoice(json.decode, 'decode', [true, false]),
    addBias: readChoice(json.addBias, 'addBias', [true, false]),
    ...(json.jointly === undefined
      ? {}
      : { jointly: readChoice(json.jointly, 'jointly', ['softmax', 'shares'] as const) }),
    columns,
    weights,
    means,
  };
}

function bayesFromJson(json: JsonObject, { features, labelCount }: ModelShape): NaiveBayesModel {
  const priors = decodeArray(json.priors, 'f64', 'priors');
  if (priors.length !== labelCount) throw invalidMember('priors', 'one a label');
  const tests = readList(json, 'tests').map((value) => {
    const test = readObject(value, 'tests');
    const feature = readNumber(test.feature, 'tests', 0);
    const logs = decodeArray(test.logs, 'f64', 'logs');
    if (!(feature in features) || logs.length !== 3 * labelCount) {
      throw invalidMember('tests', 'about known features and labels');
    }
    return {
      feature,
      test: readNumber(test.test, 'tests', 1),
      operand: readNumber(test.operand, 'tests', 0),
      logs,
      countsMissing: readChoice(test.countsMissing, 'tests', [true, false]),
    };
  });
  return { type: 'naive_bayes', priors, tests };
}

function perceptronFromJson(json: JsonObject, features: readonly Feature[]): PerceptronModel {
  const columns = columnsFromJson(json.columns, features);
  const means = decodeArray(json.means, 'f64', 'means');
  let inputs = columns.features.length;
  if (means.length !== inputs) throw invalidMember('means', 'one a column');
  const layers = readList(json, 'layers').map((value): PerceptronLayer => {
    const layer = readObject(value, 'layers');
    const weights = decodeArray(layer.weights, 'f64', 'weights');
    const biases = decodeArray(layer.biases, 'f64', 'biases');
    const inputCount = readNumber(layer.inputCount, 'layers', 0);
    const outputCount = readNumber(layer.outputCount, 'layers', 0);
    const fits =
      inputCount === inputs &&
      weights.length === inputCount * outputCount &&
      biases.length === outputCount;
    if (!fits) throw invalidMember('layers', 'of sizes that follow one another');
    inputs = outputCount;
    const activation = readChoice(layer.activation, 'activation', ACTIVATIONS);
    return { inputCount, outputCount, weights, biases, activation };
  });
  return {
    type: 'perceptron',
    columns,
    means,
    layers,
    low: readNumber(json.low, 'low'),
    high: readNumber(json.high, 'high'),
    isRegression: readChoice(json.isRegression, 'isRegression', [true, false]),
  };
}

function gbtFromJson(
  workspace: Workspace,
  json: JsonObject,
  features: readonly Feature[],
  arena: number,
  scope: JobContext,
): GbtModel {
  const baseScore = readList(json, 'baseScore').map((score) => readNumber(score, 'baseScore'));
  const gains = readList(json, 'gains').map((gain) => decodeArray(gain, 'f32', 'gains'));
  const ensemble = ensembleFromJson(workspace, json, features, arena, scope);
  return {
    type: 'gbt',
    objective: readChoice(json.objective, 'objective', OBJECTIVES),
    baseScore,
    learningRate: readNumber(json.learningRate, 'learningRate'),
    output: readChoice(json.output, 'output', ['probability', 'margin'] as const),
    ensemble,
    gains,
    bestIteration: readNumber(json.bestIteration, 'bestIteration', 0),
  };
}
