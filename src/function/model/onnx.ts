import { Type } from 'typebox';
import { collectBytes } from '../../file/byte-stream.ts';
import { logistic } from '../../learn/glz/link.ts';
import { softmax } from '../../learn/model/score.ts';
import {
  DOUBLE,
  decodeOnnx,
  FLOAT,
  type OnnxModel,
  STRING,
  type Tensor,
  type ValueInfo,
} from '../../learn/onnx/model.ts';
import { compileOnnx } from '../../learn/onnx/run.ts';
import { atomType, OPEN_ROW_TYPE, type ValueType } from '../../plan/type/type.ts';
import { choice, url } from '../../schema/declare.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Embedding, type Row, Scalar, sortedRow, type Value } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { featuresOf } from './classifier.ts';
import { FeatureReader } from './feature-reader.ts';

const PARAMETERS = Type.Object({
  modelFileUrl: url({ description: 'the ONNX file' }),
  inputs: Type.Record(Type.String(), Type.Union([Type.Array(Type.String()), Type.Literal('row')]), {
    description:
      'for each tensor the features that are its columns, or "row" for all featureNames; a tensor that is not named here is the feature of its name',
    default: {},
  }),
  featureNames: Type.Array(Type.String(), {
    description: 'the features that "row" stands for, in order',
    default: [],
  }),
  outputs: Type.Array(Type.String(), {
    description: 'the tensors to answer; empty: all',
    default: [],
  }),
  postprocess: choice(['none', 'softmax', 'sigmoid'], {
    description: 'what becomes of the numbers of the outputs',
    default: 'none',
  }),
  batchSize: Type.Integer({
    description: 'rows that are computed together at most',
    minimum: 1,
    maximum: 65_536,
    default: 256,
  }),
});

/** Scores with a model of another program. */
export const onnx = functionType({
  name: 'onnx',
  summary: 'Applies an ONNX model: tree ensembles, linear models, networks of dense layers.',
  parameters: PARAMETERS,
  binding: () => 'creation',
  async load({ modelFileUrl }, { files, checkCancelled }) {
    const file = await files.open(modelFileUrl);
    const bytes = await collectBytes(file.stream());
    checkCancelled();
    try {
      const model = decodeOnnx(bytes);
      compileOnnx(model);
      return { data: model, spans: [] };
    } catch (thrown) {
      if (!(thrown instanceof RowanError) || thrown.code === 'CANCELLED') throw thrown;
      const message = `cannot read the ONNX file ${modelFileUrl}: ${thrown.message}`;
      throw failure('DATA_ERROR', message, { ...thrown.details, url: modelFileUrl });
    }
  },
  compile(params, _scope, artifact) {
    const model = artifact as OnnxModel;
    const run = compileOnnx(model);
    const fields = fieldsOf(model, params);
    const names = [...new Set(fields.flatMap(({ features }) => features))];
    const reader = new FeatureReader(names);
    const outputs = outputsOf(model, params.outputs);
    const score = (all: readonly Value[]): Row[] => {
      const rows = all.map((input) => {
        reader.read(featuresOf(input));
        return { values: [...reader.values], ts: reader.ts };
      });
      const given = fields.map((field): [string, Tensor] => [
        field.info.name,
        tensorOf(
          field,
          rows.map(({ values }) => values),
          names,
        ),
      ]);
      const tensors = run(new Map(given));
      return rows.map(({ ts }, row) =>
        sortedRow(
          outputs.map(({ name }) => name),
          outputs.map((output) =>
            outputValue(output, tensors.get(output.name), row, rows.length, params.postprocess, ts),
          ),
        ),
      );
    };
    return {
      input: [rowOf([{ name: 'features', type: featuresType(fields) }])],
      output: rowOf(outputs.map(({ name, type }) => ({ name, type }))),
      takesAnyValue: false,
      isLight: model.nodes.length < LIGHT_NODE_COUNT_MAX,
      features: { member: 'features', names },
      apply: (input) => score([input])[0] as Row,
      applyAll(inputs) {
        const rows: Row[] = [];
        for (let from = 0; from < inputs.length; from += params.batchSize) {
          rows.push(...score(inputs.slice(from, from + params.batchSize)));
        }
        return rows;
      },
    };
  },
});

/** Larger graphs are left to workers. */
const LIGHT_NODE_COUNT_MAX = 100;

interface Field {
  readonly info: ValueInfo;
  readonly features: readonly string[];
}

interface FieldParams {
  readonly inputs: Readonly<Record<string, readonly string[] | 'row'>>;
  readonly featureNames: readonly string[];
}

/** @throws INVALID_PARAMETER for a tensor that is not there, or whose columns nobody tells */
function fieldsOf(model: OnnxModel, { inputs, featureNames }: FieldParams): Field[] {
  const unknown = Object.keys(inputs).find((name) =>
    model.inputs.every((input) => input.name !== name),
  );
  if (unknown !== undefined) {
    const known = model.inputs.map(({ name }) => name).join(', ');
    throw failure(
      'INVALID_PARAMETER',
      `inputs: the model has no tensor '${unknown}', only ${known}`,
    );
  }
  return model.inputs.map((info) => {
    const { dims, name } = info;
    const told = inputs[name];
    const width = dims.length < 2 ? 1 : (dims[1] as number);
    const own = width === 1 && told === undefined ? [name] : undefined;
    const features = told === 'row' ? featureNames : (told ?? own ?? featureNames);
    if (dims.length > 2 || features.length === 0 || (width >= 0 && features.length !== width)) {
      const shape = `[${dims.map((size) => (size < 0 ? 'N' : size)).join(', ')}]`;
      throw failure(
        'INVALID_PARAMETER',
        `inputs: tensor '${name}' of shape ${shape} needs ${width < 0 ? 'its' : width} features, not ${features.length}; name them in inputs or featureNames`,
      );
    }
    return { info, features };
  });
}

/** Column by column of the tensor, row by row. @throws INVALID_PARAMETER naming tensor and feature */
function tensorOf(
  { info, features }: Field,
  rows: readonly (readonly (Atom | undefined)[])[],
  names: readonly string[],
): Tensor {
  const { name, type } = info;
  const positions = features.map((feature) => names.indexOf(feature));
  const dims = info.dims.length === 1 ? [rows.length] : [rows.length, features.length];
  const cells = rows.flatMap((values) => positions.map((position) => values[position] ?? null));
  const refuse = (index: number, what: string) =>
    failure(
      'INVALID_PARAMETER',
      `feature '${features[index % features.length]}' of tensor '${name}' ${what}`,
    );
  if (type === STRING) {
    const texts = cells.map((atom, index) => {
      if (atom === null) return '';
      if (typeof atom === 'string') return atom;
      throw refuse(index, `must be a text, not ${atomToJsonText(atom)}`);
    });
    return { type, dims, numbers: new Float64Array(), texts };
  }
  const isFloat = type === FLOAT || type === DOUBLE;
  const numbers = Float64Array.from(cells, (atom, index) => {
    if (atom === null) {
      if (isFloat) return Number.NaN;
      throw refuse(index, 'has no value, and whole numbers cannot be missing');
    }
    const number = typeof atom === 'bigint' ? Number(atom) : atom;
    if (typeof number !== 'number') {
      throw refuse(index, `must be a number, not ${atomToJsonText(atom)}`);
    }
    if (!isFloat && !Number.isInteger(number)) {
      throw refuse(index, `must be a whole number, not ${number}`);
    }
    return type === FLOAT ? Math.fround(number) : number;
  });
  return { type, dims, numbers };
}

interface OutputField {
  readonly name: string;
  readonly type: ValueType;
  /** names of the members, of an output that is a map */
  readonly labels: readonly string[] | undefined;
}

/** @throws INVALID_PARAMETER for a tensor that is not there */
function outputsOf({ outputs, nodes }: OnnxModel, wanted: readonly string[]): OutputField[] {
  const unknown = wanted.find((name) => outputs.every((output) => output.name !== name));
  if (unknown !== undefined) {
    const known = outputs.map(({ name }) => name).join(', ');
    throw failure(
      'INVALID_PARAMETER',
      `outputs: the model has no output '${unknown}', only ${known}`,
    );
  }
  const chosen =
    wanted.length === 0 ? outputs : outputs.filter(({ name }) => wanted.includes(name));
  return chosen.map(({ name, type, dims }) => {
    const zip = nodes.find((node) => node.op === 'ZipMap' && node.outputs[0] === name);
    if (zip !== undefined) {
      const { classlabels_strings: texts, classlabels_int64s: numbers } = zip.attributes;
      const list = Array.isArray(texts) ? texts : Array.isArray(numbers) ? numbers : [];
      return { name, type: OPEN_ROW_TYPE, labels: list.map(String) };
    }
    const width = dims.length < 2 ? 1 : (dims[1] as number);
    const element = type === STRING ? ('string' as const) : ('number' as const);
    const isScalar = width === 1 || type === STRING;
    return {
      name,
      type: isScalar ? atomType(element) : { kind: 'embedding', shape: [width], element },
      labels: undefined,
    };
  });
}

function outputValue(
  { labels, name }: OutputField,
  tensor: Tensor | undefined,
  row: number,
  rowCount: number,
  postprocess: 'none' | 'softmax' | 'sigmoid',
  ts: number,
): Value {
  if (tensor === undefined) throw failure('DATA_ERROR', `the model made no output '${name}'`);
  if (tensor.texts !== undefined) return new Scalar(tensor.texts[row] ?? null, ts);
  const width = tensor.numbers.length / rowCount;
  const own = tensor.numbers.slice(row * width, (row + 1) * width);
  if (tensor.type === FLOAT || tensor.type === DOUBLE) {
    if (postprocess === 'softmax') softmax(own, 0, own.length);
    if (postprocess === 'sigmoid') for (const [i, x] of own.entries()) own[i] = logistic(x);
  }
  const cell = (x: number) => new Scalar(x, ts);
  if (labels !== undefined) return sortedRow(labels, Array.from(own, cell));
  return width === 1 ? cell(own[0] as number) : new Embedding([width], Array.from(own), ts);
}

function featuresType(fields: readonly Field[]): ValueType {
  const members = new Map<string, ValueType>();
  for (const { features, info } of fields) {
    for (const name of features)
      members.set(name, atomType(info.type === STRING ? 'string' : 'number'));
  }
  const names = [...members.keys()];
  const sorted = sortedRow(
    names,
    names.map(() => new Scalar(null, 0)),
  ).names;
  return rowOf(sorted.map((name) => ({ name, type: members.get(name) as ValueType })));
}

function rowOf(members: readonly { readonly name: string; readonly type: ValueType }[]): ValueType {
  return { kind: 'row', members, open: false };
}
