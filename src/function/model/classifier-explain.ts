import { Type } from 'typebox';
import { queryTextOf } from '../../dataset/parameter.ts';
import { prepareQuery } from '../../exec/query.ts';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { compileExplainer, EXPLAIN_METHODS, type Explainer } from '../../learn/explain/explain.ts';
import type { Values } from '../../learn/explain/tree-view.ts';
import type { ClassifierModel } from '../../learn/model/classifier.ts';
import { scoreCountOf } from '../../learn/model/classifier.ts';
import { ANY_TYPE, atomType, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { choice, inputQuery, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { Row, RowBuilder, Scalar, type Value } from '../../value/value.ts';
import { type FunctionContext, functionType } from '../function-type.ts';
import {
  featuresOf,
  featuresType,
  type LoadedClassifier,
  loadClassifier,
  trainedFeatures,
} from './classifier.ts';
import { FeatureReader } from './feature-reader.ts';

/** Rows of background data that are used at most. */
const BACKGROUND_ROW_COUNT_MAX = 1000;

const SPACES = ['margin', 'score'] as const;

const PARAMETERS = Type.Object({
  modelFileUrl: url({ description: 'the model file that a training procedure saved' }),
  method: choice(EXPLAIN_METHODS, {
    description:
      'path: what each test on the way changes; treeshap: Shapley values by the training rows; interventional: Shapley values against rows of backgroundData',
    default: 'path',
  }),
  space: Type.Optional(
    choice(SPACES, {
      description:
        'what contributions add up to: the score, or the sum behind its link function; default: whichever the model is a sum in',
    }),
  ),
  backgroundData: Type.Optional(
    inputQuery({
      description:
        'rows of features, for method interventional; the first 1000 are read at the first call',
    }),
  ),
});

/** Tells how much each feature adds to a classifier's score. */
export const classifierExplain = functionType({
  name: 'classifier.explain',
  summary: 'Tells how much each feature of a row adds to the score of a label.',
  parameters: PARAMETERS,
  binding: () => 'creation',
  check({ method, backgroundData }) {
    if (method === 'interventional' && backgroundData === undefined) {
      throw failure('MISSING_PARAMETER', "method 'interventional' needs backgroundData");
    }
  },
  load: ({ modelFileUrl }, context) => loadClassifier(modelFileUrl, context),
  compile({ method, space, backgroundData }, scope, artifact) {
    const { model } = artifact as LoadedClassifier;
    if (space !== undefined) checkSpace(model, space);
    const names = model.features.map((feature) => feature.name);
    const reader = new FeatureReader(names);
    const paths = names.map((name) => Path.parse(name));
    const shape = {
      features: model.features,
      width: scoreCountOf(model),
      isRegression: model.mode === 'regression',
    };
    const workspace = workspaceOf(scope.arenas);
    let explainer: Explainer | undefined;
    const readInput = (input: Value): number => {
      const label = labelIndex(model, labelOf(input));
      reader.read(featuresOf(input));
      if (reader.values.every((value) => value === undefined)) throw noFeatures();
      return label;
    };
    const rowOf = (bias: number, contributions: Float64Array, ts: number): Row => {
      const explanation = new RowBuilder();
      for (const [index, contribution] of contributions.entries()) {
        if (contribution === 0) continue;
        explanation.addPath(paths[index] as Path, new Scalar(contribution, ts));
      }
      return new Row(['bias', 'explanation'], [new Scalar(bias, ts), explanation.build()]);
    };
    const explainAgainst = (background: readonly Values[]) =>
      compileExplainer(workspace, model.algorithm, shape, { method, background }, scope.callScope);
    const makeExplainer = () => {
      const text = backgroundData && queryTextOf(backgroundData);
      const background =
        method === 'interventional' && text !== undefined ? readBackground(text, names, scope) : [];
      return explainAgainst(background);
    };
    // What cannot be explained is refused when the function is made; the background is read later.
    if (method === 'interventional') explainAgainst([names.map(() => undefined)]);
    else explainer = makeExplainer();
    return {
      input: [
        {
          kind: 'row',
          members: [
            { name: 'features', type: featuresType(model) },
            { name: 'label', type: ANY_TYPE },
          ],
          open: false,
        },
      ],
      output: {
        kind: 'row',
        members: [
          { name: 'bias', type: atomType('number') },
          { name: 'explanation', type: OPEN_ROW_TYPE },
        ],
        open: false,
      },
      takesAnyValue: false,
      features: trainedFeatures(model),
      isLight: method === 'path',
      apply(input) {
        explainer ??= makeExplainer();
        const label = readInput(input);
        const contributions = new Float64Array(names.length);
        const bias = explainer(reader.values, label, contributions);
        return rowOf(bias, contributions, reader.ts);
      },
      ...(explainer?.all === undefined
        ? {}
        : {
            applyAll: (inputs: readonly Value[]) => {
              const labels = new Int32Array(inputs.length);
              const times = new Float64Array(inputs.length);
              const rows = inputs.map((input, row) => {
                labels[row] = readInput(input);
                times[row] = reader.ts;
                return [...reader.values];
              });
              const all = rows.map(() => new Float64Array(names.length));
              const explain = (explainer as Explainer).all as NonNullable<Explainer['all']>;
              const biases = explain((row) => rows[row] as Values, labels, all);
              return all.map((contributions, row) =>
                rowOf(biases[row] as number, contributions, times[row] as number),
              );
            },
          }),
    };
  },
});

function noFeatures(): Error {
  return failure(
    'DATA_ERROR',
    "The specified features couldn't be found in the classifier. At least one non-null feature column must be provided.",
  );
}

function labelOf(input: Value): Atom {
  const value = input instanceof Row ? input.values[input.indexOf('label')] : undefined;
  if (value === undefined) return null;
  if (value instanceof Scalar) return value.atom;
  throw failure('DATA_ERROR', 'the label to explain must be a single value');
}

/** @throws DATA_ERROR when the model does not know the label */
function labelIndex({ mode, labels }: ClassifierModel, label: Atom): number {
  if (mode === 'regression') return 0;
  if (label === null) throw failure('DATA_ERROR', 'a label to explain is needed');
  if (mode === 'boolean') {
    if (label === 0 || label === 1) return label;
    throw unknownLabel(label, ['0', '1']);
  }
  const index = labels.indexOf(atomToJsonText(label));
  if (index >= 0) return index;
  throw unknownLabel(label, labels);
}

function unknownLabel(label: Exclude<Atom, null>, known: readonly string[]): Error {
  return failure(
    'DATA_ERROR',
    `label ${atomToJsonText(label)} is not known to the model; it knows ${known.slice(0, 10).join(', ')}`,
  );
}

/** @throws INVALID_PARAMETER when contributions do not add up in that space */
function checkSpace({ algorithm }: ClassifierModel, space: (typeof SPACES)[number]): void {
  const hasLink =
    (algorithm.type === 'gbt' && algorithm.output === 'probability' && isLinked(algorithm)) ||
    (algorithm.type === 'glz' && algorithm.decode && algorithm.link !== 'linear') ||
    (algorithm.type === 'boosted_stumps' && algorithm.output !== 'raw');
  if (!hasLink || space === 'margin') return;
  throw failure(
    'INVALID_PARAMETER',
    `space 'score' is not available for ${algorithm.type} whose scores go through a link; its contributions add up in space 'margin'`,
  );
}

function isLinked({ objective }: { readonly objective: string }): boolean {
  return objective === 'logistic' || objective === 'softmax' || objective === 'poisson';
}

/** Rows of features: a member `features` of each, or the row itself. */
function readBackground(
  text: ReturnType<typeof queryTextOf>,
  names: readonly string[],
  { namespace, callScope, executor }: FunctionContext,
): Values[] {
  const reader = new FeatureReader(names);
  const rows: Values[] = [];
  for (const { row } of prepareQuery(text, { namespace, scope: callScope, executor }).run()) {
    reader.read(featuresOf(row) ?? row);
    rows.push([...reader.values]);
    if (rows.length === BACKGROUND_ROW_COUNT_MAX) break;
  }
  if (rows.length > 0) return rows;
  throw failure('DATA_ERROR', 'backgroundData has no rows');
}
