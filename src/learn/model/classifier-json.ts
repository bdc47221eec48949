// Classifiers as model files.
import { UPDATE_ALGORITHMS } from '../decision-tree/tree.ts';
import type { Feature } from '../feature/feature.ts';
import { MODES } from '../label.ts';
import { type JobScope, NEVER_CANCELLED, type Workspace } from '../workspace.ts';
import type { Algorithm, ClassifierModel } from './classifier.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readObject,
  readText,
} from './container.ts';
import { featureFromJson, featureToJson } from './feature-json.ts';
import { ensembleFromJson, ensembleToJson, treeFromJson, treeToJson } from './tree-json.ts';

const KIND = 'classifier';
const VERSION = 1;

/** A classifier's file as plain JSON data. */
export function classifierToJson(workspace: Workspace, model: ClassifierModel): JsonObject {
  const { algorithm, features, labels, mode } = model;
  const columnNames = features.map((feature) => feature.name);
  return makeContainer(KIND, VERSION, columnNames, {
    mode,
    labels,
    features: features.map(featureToJson),
    algorithm: algorithmToJson(workspace, algorithm),
  });
}

/**
 * Reads what classifierToJson wrote.
 * @param arena where trees are placed; their spans are the caller's to free
 * @param scope is asked between parts of a large model
 * @throws DATA_ERROR when it is not a classifier, or one of another version
 */
export function classifierFromJson(
  workspace: Workspace,
  json: unknown,
  arena: number,
  scope: JobScope = NEVER_CANCELLED,
): ClassifierModel {
  const file = openContainer(json, KIND, VERSION);
  const names = readList(file, 'columnNames');
  const list = readList(file, 'features');
  if (names.length !== list.length) throw invalidMember('features', 'one a column name');
  const features = list.map((feature, index) => {
    scope.checkCancelled();
    return featureFromJson(readText(names[index], 'columnNames'), feature);
  });
  return {
    mode: readChoice(file.mode, 'mode', MODES),
    labels: readList(file, 'labels').map((label) => readText(label, 'labels')),
    features,
    algorithm: algorithmFromJson(workspace, file.algorithm, features, arena, scope),
  };
}

function algorithmToJson(workspace: Workspace, algorithm: Algorithm): JsonObject {
  const { type } = algorithm;
  return type === 'decision_tree'
    ? { type, updateAlgorithm: algorithm.updateAlgorithm, tree: treeToJson(algorithm.tree) }
    : { type, ...ensembleToJson(workspace, algorithm.ensemble) };
}

function algorithmFromJson(
  workspace: Workspace,
  value: unknown,
  features: readonly Feature[],
  arena: number,
  scope: JobScope,
): Algorithm {
  const json = readObject(value, 'algorithm');
  const type = readChoice(json.type, 'type', ['decision_tree', 'random_forest'] as const);
  if (type === 'random_forest') {
    return { type, ensemble: ensembleFromJson(workspace, json, features, arena, scope) };
  }
  return {
    type,
    updateAlgorithm: readChoice(json.updateAlgorithm, 'updateAlgorithm', UPDATE_ALGORITHMS),
    tree: treeFromJson(json.tree, features),
  };
}
