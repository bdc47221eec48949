import { Type } from 'typebox';
import { threadKernels } from '../exec/thread-memory.ts';
import {
  type ClassifierModel,
  ensembleOf,
  expandScores,
  hasUsableFeature,
  scoreCountOf,
} from '../learn/model/classifier.ts';
import { classifierFromJson } from '../learn/model/classifier-json.ts';
import { modelDocument } from '../learn/model/document.ts';
import type { TreeEnsemble } from '../learn/tree/ensemble.ts';
import { compileScorer } from '../learn/tree/scorer.ts';
import type { JobScope, Workspace } from '../learn/workspace.ts';
import { atomType, type ValueType } from '../plan/type.ts';
import { url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import type { ArenaAllocator } from '../value/arena-set.ts';
import type { Atom } from '../value/atom.ts';
import { atomToJsonText } from '../value/json.ts';
import { Path } from '../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../value/timestamp.ts';
import { flatten, latestOf, Row, Scalar, sortedRow, type Value } from '../value/value.ts';
import { functionType } from './function-type.ts';
import { loadModel } from './model-file.ts';
import { atomFromJson, type PlainCall } from './plain-call.ts';

/** A model in shared memory: plain data that any thread can score with. */
interface LoadedClassifier {
  readonly model: ClassifierModel;
  readonly ensemble: TreeEnsemble;
}

/** A trained classifier as a function of its features. */
export const classifier = functionType({
  name: 'classifier',
  summary: 'Scores rows of features with a trained classifier.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that a training procedure saved' }),
  }),
  binding: () => 'creation',
  async load({ modelFileUrl }, context) {
    const { arenas, checkCancelled } = context;
    const workspace = workspaceOf(arenas);
    const model = await loadModel(modelFileUrl, context, (json) =>
      classifierFromJson(workspace, json, 0, { checkCancelled }),
    );
    checkCancelled();
    const ensemble = ensembleOf(workspace, model, 0);
    const loaded: LoadedClassifier = { model, ensemble };
    return { data: loaded, spans: ensemble.trees.map(({ span }) => span) };
  },
  compile(_params, { arenas, callScope }, artifact) {
    return compileClassifier(artifact as LoadedClassifier, workspaceOf(arenas), callScope);
  },
});

function workspaceOf(memory: ArenaAllocator): Workspace {
  return { memory, kernels: threadKernels };
}

function compileClassifier(
  { model, ensemble }: LoadedClassifier,
  workspace: Workspace,
  scope: JobScope,
) {
  const { score, scoreAll, scorePlain } = compileScore(model, ensemble, workspace, scope);
  return {
    input: [inputType(model)],
    output: outputType(model),
    takesAnyValue: false,
    isLight: true,
    apply: (input: Value) => score(featuresOf(input)),
    applyAll: (inputs: readonly Value[]) => scoreAll(inputs.map(featuresOf)),
    plainCalls: scorePlain === undefined ? {} : { plain: scorePlain },
    details: () => ({ model: modelDocument(workspace, model) }),
  };
}

function featuresOf(input: Value): Value | undefined {
  return input instanceof Row ? input.values[input.indexOf('features')] : undefined;
}

interface ScoreCalls {
  score(features: Value | undefined): Row;
  scoreAll(all: readonly (Value | undefined)[]): Row[];
  readonly scorePlain?: PlainCall | undefined;
}

/** The output rows of rows of features. */
function compileScore(
  model: ClassifierModel,
  ensemble: TreeEnsemble,
  workspace: Workspace,
  scope: JobScope,
): ScoreCalls {
  if (!hasUsableFeature(model)) return { score: refuseFeatureless, scoreAll: refuseFeatureless };
  const scorer = compileScorer(workspace, ensemble, scope);
  const reader = new FeatureReader(model.features.map((feature) => feature.name));
  const outputs = new Float64Array(ensemble.width);
  const isSingle = scoreCountOf(model) === 1 && model.labels.length === 0;
  const rowOf = (scores: Float64Array, ts: number): Row => {
    if (isSingle) return new Row(['score'], [new Scalar(scores[0] as number, ts)]);
    const values = Array.from(expandScores(model, scores), (each) => new Scalar(each, ts));
    return new Row(['scores'], [sortedRow(model.labels, values)]);
  };
  return {
    score(features: Value | undefined): Row {
      reader.read(features);
      scorer.score(reader.values, outputs);
      return rowOf(outputs, reader.ts);
    },
    scoreAll(all: readonly (Value | undefined)[]): Row[] {
      const times = new Float64Array(all.length);
      const scores = scorer.scoreAll(all.length, (row) => {
        reader.read(all[row]);
        times[row] = reader.ts;
        return reader.values;
      });
      const { width } = ensemble;
      return all.map((_, row) =>
        rowOf(scores.subarray(row * width, (row + 1) * width), times[row] as number),
      );
    },
    scorePlain: isSingle
      ? (input) => {
          if (!reader.readPlain(plainFeaturesOf(input))) return undefined;
          scorer.score(reader.values, outputs);
          return `{"score":${atomToJsonText(outputs[0] as number)}}`;
        }
      : undefined,
  };
}

function plainFeaturesOf(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, 'features')) return;
  return (input as { readonly features: unknown }).features;
}

function refuseFeatureless(): never {
  throw failure(
    'DATA_ERROR',
    'Feature_Set is null! Are you giving only null features to the classifier function?',
  );
}

/** Puts the members of a row of features where the model's inputs are; nested ones by their path. */
class FeatureReader {
  readonly values: (Atom | undefined)[];
  /** the latest timestamp of the values that were read, in seconds */
  ts = MINUS_INFINITY;
  readonly #positions: ReadonlyMap<string, number>;
  /** inputs that are one path element, by that element */
  readonly #topLevel = new Map<string, number>();

  constructor(names: readonly string[]) {
    this.values = new Array<Atom | undefined>(names.length).fill(undefined);
    this.#positions = new Map(names.map((name, index) => [name, index]));
    for (const [name, index] of this.#positions) {
      const { elements } = Path.parse(name);
      if (elements.length === 1) this.#topLevel.set(elements[0] as string, index);
    }
  }

  read(features: Value | undefined): void {
    this.values.fill(undefined);
    this.ts = MINUS_INFINITY;
    if (features instanceof Row) this.#readRow(features);
    else if (features !== undefined && !(features instanceof Scalar))
      this.#readNested(features, []);
  }

  /** Reads a JSON object of atoms. @returns false for everything else, of which nothing is read */
  readPlain(features: unknown): boolean {
    if (typeof features !== 'object' || features === null || Array.isArray(features)) return false;
    this.values.fill(undefined);
    for (const [name, json] of Object.entries(features)) {
      const atom = atomFromJson(json);
      if (atom === undefined) return false;
      const position = this.#topLevel.get(name);
      if (position !== undefined && atom !== null) this.values[position] = atom;
    }
    return true;
  }

  #readRow(row: Row): void {
    const { names, values } = row;
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const value = values[i] as Value;
      if (!(value instanceof Scalar)) {
        this.#readNested(value, [name]);
        continue;
      }
      const position = this.#topLevel.get(name);
      if (position === undefined) continue;
      const point = names[i + 1] === name ? latestOf(scalarsOf(row, name)) : value;
      this.#set(position, point.atom, point.ts);
      while (names[i + 1] === name && values[i + 1] instanceof Scalar) i++;
    }
  }

  #readNested(value: Value, prefix: readonly string[]): void {
    flatten(value, prefix, (path, atom, ts) => {
      const position = this.#positions.get(path.toString());
      if (position !== undefined) this.#set(position, atom, ts);
    });
  }

  #set(position: number, atom: Atom, ts: number): void {
    if (atom === null) return;
    this.values[position] = atom;
    this.ts = laterOf(this.ts, ts);
  }
}

function scalarsOf(row: Row, name: string): Scalar[] {
  return row.all(name).filter((value) => value instanceof Scalar);
}

function inputType(model: ClassifierModel): ValueType {
  const members = model.features
    .filter((feature) => feature.kind !== 'unused')
    .map((feature) => ({
      name: feature.name,
      type: atomType(feature.kind === 'numeric' ? 'number' : 'string'),
    }));
  const features: ValueType = { kind: 'row', members, open: false };
  return { kind: 'row', members: [{ name: 'features', type: features }], open: false };
}

function outputType(model: ClassifierModel): ValueType {
  const number = atomType('number');
  if (model.labels.length === 0) {
    return { kind: 'row', members: [{ name: 'score', type: number }], open: false };
  }
  const members = sortedRow(
    model.labels,
    model.labels.map(() => new Scalar(0, 0)),
  ).names.map((name) => ({ name, type: number }));
  const scores: ValueType = { kind: 'row', members, open: false };
  return { kind: 'row', members: [{ name: 'scores', type: scores }], open: false };
}
