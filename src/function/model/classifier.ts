import { Type } from 'typebox';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { classifierFormula } from '../../learn/formula/classifier-formula.ts';
import type { ModelFormula } from '../../learn/formula/formula.ts';
import { type ClassifierModel, hasUsableFeature } from '../../learn/model/classifier.ts';
import { classifierFromJson } from '../../learn/model/classifier-json.ts';
import { modelDocument, modelSummary } from '../../learn/model/document.ts';
import { type Prepared, prepare, preparedSpans } from '../../learn/model/prepare.ts';
import { compileModelScorer, scoreColumns } from '../../learn/model/score.ts';
import type { JobContext, Workspace } from '../../learn/workspace.ts';
import type { ColumnScores, ModelFeatures } from '../../plan/function.ts';
import { atomType, type ValueType } from '../../plan/type/type.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Row, Scalar, sortedRow, type Value } from '../../value/value.ts';
import { functionType, type LoadContext, type LoadedArtifact } from '../function-type.ts';
import type { PlainCall } from '../plain-call.ts';
import { FeatureReader } from './feature-reader.ts';
import { loadModel } from './model-file.ts';

/** A model in shared memory: plain data that any thread can score with. */
export interface LoadedClassifier {
  readonly model: ClassifierModel;
  readonly prepared: Prepared;
}

/** A trained classifier as a function of its features. */
export const classifier = functionType({
  name: 'classifier',
  summary: 'Scores rows of features with a trained classifier.',
  parameters: Type.Object({
    modelFileUrl: url({ description: 'the model file that a training procedure saved' }),
  }),
  binding: () => 'creation',
  load: ({ modelFileUrl }, context) => loadClassifier(modelFileUrl, context),
  status(_params, artifact) {
    const { model } = artifact as LoadedClassifier;
    return { summary: modelSummary(model), mode: model.mode };
  },
  compile(_params, { arenas, callScope }, artifact) {
    return compileClassifier(artifact as LoadedClassifier, workspaceOf(arenas), callScope);
  },
});

/** @throws DATA_ERROR naming the file when it is no classifier */
export async function loadClassifier(
  url: string,
  context: LoadContext,
): Promise<LoadedArtifact & { readonly data: LoadedClassifier }> {
  const { arenas, checkCancelled } = context;
  const workspace = workspaceOf(arenas);
  const { data: model, card } = await loadModel(url, context, (json) =>
    classifierFromJson(workspace, json, 0, { checkCancelled }),
  );
  checkCancelled();
  const prepared = prepare(workspace, model.features, model.algorithm, 0);
  return { data: { model, prepared }, spans: preparedSpans(prepared), card };
}

function compileClassifier(
  { model, prepared }: LoadedClassifier,
  workspace: Workspace,
  scope: JobContext,
) {
  const { score, scoreAll, scorePlain } = compileScore(model, prepared, workspace, scope);
  let formula: { readonly value: ModelFormula | undefined } | undefined;
  return {
    input: [rowType([{ name: 'features', type: featuresType(model) }])],
    output: outputType(model),
    takesAnyValue: false,
    features: trainedFeatures(model),
    formula() {
      formula ??= { value: classifierFormula(workspace, { model, prepared }) };
      return formula.value;
    },
    columnScores: columnScoresOf(model, prepared, workspace),
    isLight: true,
    apply: (input: Value) => score(featuresOf(input)),
    applyAll: (inputs: readonly Value[]) => scoreAll(inputs.map(featuresOf)),
    plainCalls: scorePlain === undefined ? {} : { plain: scorePlain },
    details: () => ({ model: modelDocument(workspace, model) }),
  };
}

/** Present where the output is one number. */
function columnScoresOf(
  model: ClassifierModel,
  prepared: Prepared,
  workspace: Workspace,
): ColumnScores | undefined {
  if (!hasUsableFeature(model) || !hasOneScore(model)) return undefined;
  return {
    ...trainedFeatures(model),
    path: ['score'],
    ofColumns: (sources, rowCount, context) =>
      scoreColumns({ workspace, ...context }, { model, prepared }, sources, rowCount),
  };
}

function hasOneScore({ mode }: ClassifierModel): boolean {
  return mode === 'boolean' || mode === 'regression';
}

/** The member `features` of an input row. */
export function featuresOf(input: Value): Value | undefined {
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
  prepared: Prepared,
  workspace: Workspace,
  scope: JobContext,
): ScoreCalls {
  if (!hasUsableFeature(model)) return { score: refuseFeatureless, scoreAll: refuseFeatureless };
  const scorer = compileModelScorer(workspace, { model, prepared }, scope);
  const reader = new FeatureReader(model.features.map((feature) => feature.name));
  const outputs = new Float64Array(scorer.width);
  const isSingle = hasOneScore(model);
  const rowOf = (scores: Float64Array, ts: number): Row => {
    if (isSingle) return new Row(['score'], [new Scalar(scores[0] as number, ts)]);
    const values = Array.from(scores, (each) => new Scalar(each, ts));
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
      const { width } = scorer;
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

/** The features of a model, those that said nothing in training too. */
export function trainedFeatures({ features }: Pick<ClassifierModel, 'features'>): ModelFeatures {
  return { member: 'features', names: features.map((feature) => feature.name) };
}

/** Rows of the model's features. */
export function featuresType(model: Pick<ClassifierModel, 'features'>): ValueType {
  const members = model.features
    .filter((feature) => feature.kind !== 'unused')
    .map((feature) => ({
      name: feature.name,
      type: atomType(feature.kind === 'numeric' ? 'number' : 'string'),
    }));
  return { kind: 'row', members, open: false };
}

function outputType(model: ClassifierModel): ValueType {
  const number = atomType('number');
  if (hasOneScore(model)) {
    return rowType([{ name: 'score', type: number }]);
  }
  const members = sortedRow(
    model.labels,
    model.labels.map(() => new Scalar(0, 0)),
  ).names.map((name) => ({ name, type: number }));
  return rowType([{ name: 'scores', type: rowType(members) }]);
}

function rowType(
  members: readonly { readonly name: string; readonly type: ValueType }[],
): ValueType {
  return { kind: 'row', members, open: false };
}
