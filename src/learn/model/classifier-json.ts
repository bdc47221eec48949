// Classifiers as model files.
import { MODES } from '../label.ts';
import { type JobContext, NEVER_CANCELLED, type Workspace } from '../workspace.ts';
import { algorithmFromJson, algorithmToJson } from './algorithm-json.ts';
import type { ClassifierModel } from './classifier.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readText,
} from './container.ts';
import { featureFromJson, featureToJson } from './feature-json.ts';

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
  scope: JobContext = NEVER_CANCELLED,
): ClassifierModel {
  const file = openContainer(json, KIND, VERSION);
  const names = readList(file, 'columnNames');
  const list = readList(file, 'features');
  if (names.length !== list.length) throw invalidMember('features', 'one a column name');
  const features = list.map((feature, index) => {
    scope.checkCancelled();
    return featureFromJson(readText(names[index], 'columnNames'), feature);
  });
  const mode = readChoice(file.mode, 'mode', MODES);
  const labels = readList(file, 'labels').map((label) => readText(label, 'labels'));
  const shape = { features, labelCount: mode === 'boolean' ? 2 : Math.max(1, labels.length) };
  return {
    mode,
    labels,
    features,
    algorithm: algorithmFromJson(workspace, file.algorithm, shape, arena, scope),
  };
}
