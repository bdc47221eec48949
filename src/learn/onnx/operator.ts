// The operators of ONNX that models of tables use.
// @see https://github.com/onnx/onnx/blob/main/docs/Operators.md
import { failure } from '../../util/error.ts';
import { logistic, normalCdf } from '../glz/link.ts';
import { softmax } from '../model/score.ts';
import {
  BOOL,
  DOUBLE,
  FLOAT,
  INT64,
  ML_DOMAIN,
  type OnnxNode,
  STRING,
  type Tensor,
} from './model.ts';
import {
  aroundAxis,
  axisOf,
  elementwise,
  matrixDims,
  numbersTensor,
  pick,
  sizeOf,
  textsTensor,
} from './tensor.ts';
import {
  linearClassifier,
  linearRegressor,
  numberIn,
  numbersOf,
  type Operator,
  textOf,
  textsOf,
  treeClassifier,
  treeRegressor,
} from './tree-operator.ts';

type OperatorMaker = (node: OnnxNode, opset: number) => Operator;

const unary =
  (compute: (x: number) => number): OperatorMaker =>
  () =>
  ([tensor]) => [
    numbersTensor(
      (tensor as Tensor).type,
      (tensor as Tensor).dims,
      (tensor as Tensor).numbers.map(compute),
    ),
  ];

/** Of any number of inputs, from left to right. */
const folded =
  (compute: (a: number, b: number) => number): OperatorMaker =>
  () =>
  (inputs) => [elementwise((inputs[0] as Tensor).type, inputs, (values) => values.reduce(compute))];

const compared =
  (compute: (a: number, b: number) => boolean): OperatorMaker =>
  () =>
  (inputs) => [elementwise(BOOL, inputs, ([a, b]) => Number(compute(a as number, b as number)))];

const GENERAL: Readonly<Record<string, OperatorMaker>> = {
  Abs: unary(Math.abs),
  Ceil: unary(Math.ceil),
  Erf: unary((x) => 2 * normalCdf(x * Math.SQRT2) - 1),
  Exp: unary(Math.exp),
  Floor: unary(Math.floor),
  Log: unary(Math.log),
  Neg: unary((x) => -x),
  Not: unary((x) => Number(x === 0)),
  Reciprocal: unary((x) => 1 / x),
  Relu: unary((x) => Math.max(0, x)),
  Sigmoid: unary(logistic),
  Softsign: unary((x) => x / (1 + Math.abs(x))),
  Sqrt: unary(Math.sqrt),
  Tanh: unary(Math.tanh),
  Identity: () => (inputs) => [inputs[0] as Tensor],
  IsNaN: () => (inputs) => [elementwise(BOOL, inputs, ([x]) => Number(Number.isNaN(x)))],
  Add: folded((a, b) => a + b),
  Sub: folded((a, b) => a - b),
  Mul: folded((a, b) => a * b),
  Div: folded((a, b) => a / b),
  Pow: folded((a, b) => a ** b),
  Sum: folded((a, b) => a + b),
  Max: folded(Math.max),
  Min: folded(Math.min),
  And: folded((a, b) => Number(a !== 0 && b !== 0)),
  Or: folded((a, b) => Number(a !== 0 || b !== 0)),
  Equal: compared((a, b) => a === b),
  Greater: compared((a, b) => a > b),
  GreaterOrEqual: compared((a, b) => a >= b),
  Less: compared((a, b) => a < b),
  LessOrEqual: compared((a, b) => a <= b),
  Where: () => (inputs) => [
    elementwise((inputs[1] as Tensor).type, inputs, ([condition, a, b]) =>
      condition === 0 ? (b as number) : (a as number),
    ),
  ],
  Clip: ({ attributes }) => {
    const low = numberIn(attributes, 'min', Number.NEGATIVE_INFINITY);
    const high = numberIn(attributes, 'max', Number.POSITIVE_INFINITY);
    return ([tensor, min, max]) => {
      const { type, dims, numbers } = tensor as Tensor;
      const from = min?.numbers[0] ?? low;
      const to = max?.numbers[0] ?? high;
      return [
        numbersTensor(
          type,
          dims,
          numbers.map((x) => Math.min(to, Math.max(from, x))),
        ),
      ];
    };
  },
  Cast: ({ attributes }) => {
    const to = numberIn(attributes, 'to', FLOAT);
    return ([tensor]) => [cast(tensor as Tensor, to)];
  },
  Constant: ({ attributes }) => {
    const { value, value_float: float, value_int: int } = attributes;
    if (typeof value === 'object' && 'dims' in value) return () => [value];
    const [type, number] = typeof int === 'number' ? [INT64, int] : [FLOAT, float];
    if (typeof number !== 'number') throw failure('DATA_ERROR', 'a Constant without a value');
    return () => [numbersTensor(type, [], Float64Array.of(number))];
  },
  Concat: ({ attributes }) => {
    const along = numberIn(attributes, 'axis', 0);
    return (inputs) => [concat(inputs, along)];
  },
  Gather: ({ attributes }) => {
    const along = numberIn(attributes, 'axis', 0);
    return ([tensor, indexes]) => [gather(tensor as Tensor, indexes as Tensor, along)];
  },
  Reshape:
    () =>
    ([tensor, shape]) => [reshape(tensor as Tensor, Array.from((shape as Tensor).numbers))],
  Flatten: ({ attributes }) => {
    const along = numberIn(attributes, 'axis', 1);
    return ([tensor]) => {
      const { dims } = tensor as Tensor;
      return [
        { ...(tensor as Tensor), dims: [sizeOf(dims.slice(0, along)), sizeOf(dims.slice(along))] },
      ];
    };
  },
  Squeeze: ({ attributes }) => {
    const own = numbersOf(attributes, 'axes');
    return ([tensor, axes]) => {
      const { dims } = tensor as Tensor;
      const chosen = Array.from(axes?.numbers ?? own, (axis) => axisOf(axis, dims.length));
      const kept = dims.filter((size, axis) =>
        chosen.length === 0 ? size !== 1 : !chosen.includes(axis),
      );
      return [{ ...(tensor as Tensor), dims: kept }];
    };
  },
  Unsqueeze: ({ attributes }) => {
    const own = numbersOf(attributes, 'axes');
    return ([tensor, axes]) => {
      const chosen = Array.from(axes?.numbers ?? own);
      const dims = [...(tensor as Tensor).dims];
      const rank = dims.length + chosen.length;
      for (const axis of chosen.map((each) => axisOf(each, rank)).sort((a, b) => a - b)) {
        dims.splice(axis, 0, 1);
      }
      return [{ ...(tensor as Tensor), dims }];
    };
  },
  MatMul:
    () =>
    ([a, b]) => [product(a as Tensor, b as Tensor)],
  Gemm: ({ attributes }) => {
    const alpha = numberIn(attributes, 'alpha', 1);
    const beta = numberIn(attributes, 'beta', 1);
    return ([a, b, c]) => {
      const left =
        numberIn(attributes, 'transA', 0) === 1 ? transposed(a as Tensor) : (a as Tensor);
      const right =
        numberIn(attributes, 'transB', 0) === 1 ? transposed(b as Tensor) : (b as Tensor);
      const scaled = product(left, right);
      if (c === undefined)
        return [elementwise(scaled.type, [scaled], ([x]) => alpha * (x as number))];
      const sum = ([x, y]: readonly number[]) => alpha * (x as number) + beta * (y as number);
      return [elementwise(scaled.type, [scaled, c], sum)];
    };
  },
  Transpose:
    () =>
    ([tensor]) => [transposed(tensor as Tensor)],
  Softmax: ({ attributes }) => {
    const along = numberIn(attributes, 'axis', -1);
    return ([tensor]) => {
      const { type, dims, numbers } = tensor as Tensor;
      if (axisOf(along, dims.length) !== dims.length - 1) {
        throw failure('DATA_ERROR', 'Softmax is supported along the last axis only');
      }
      const out = numbers.slice();
      const width = dims.at(-1) ?? 1;
      for (let from = 0; from < out.length; from += width) softmax(out, from, width);
      return [numbersTensor(type, dims, out)];
    };
  },
  ReduceSum: reduced((values) => values.reduce((a, b) => a + b, 0)),
  ReduceMax: reduced((values) => values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)),
  ReduceMean: reduced((values) => values.reduce((a, b) => a + b, 0) / values.length),
  ArgMax: ({ attributes }) => {
    const make = reduced((values) => {
      let best = 0;
      for (let i = 1; i < values.length; i++) {
        if ((values[i] as number) > (values[best] as number)) best = i;
      }
      return best;
    });
    const axes = [numberIn(attributes, 'axis', 0)];
    const keepdims = numberIn(attributes, 'keepdims', 1);
    const node = {
      op: 'ArgMax',
      domain: '',
      inputs: [],
      outputs: [],
      attributes: { axes, keepdims },
    };
    const run = make(node, 13);
    return (inputs) => run(inputs).map((tensor) => ({ ...tensor, type: INT64 }));
  },
};

const CLASSIC: Readonly<Record<string, OperatorMaker>> = {
  TreeEnsembleRegressor: treeRegressor,
  TreeEnsembleClassifier: treeClassifier,
  LinearRegressor: linearRegressor,
  LinearClassifier: linearClassifier,
  Scaler: ({ attributes }) => {
    const offset = numbersOf(attributes, 'offset');
    const scale = numbersOf(attributes, 'scale');
    return ([tensor]) => {
      const [, columns] = matrixDims(tensor as Tensor);
      const at = (list: readonly number[], column: number) =>
        (list.length === 1 ? list[0] : list[column]) as number;
      const { dims, numbers } = tensor as Tensor;
      const out = numbers.map((x, i) => (x - at(offset, i % columns)) * at(scale, i % columns));
      return [numbersTensor(FLOAT, dims, out)];
    };
  },
  Normalizer: ({ attributes }) => {
    const norm = textOf(attributes, 'norm', 'MAX');
    return ([tensor]) => {
      const [rows, columns] = matrixDims(tensor as Tensor);
      const out = (tensor as Tensor).numbers.slice();
      for (let row = 0; row < rows; row++) {
        const own = out.subarray(row * columns, (row + 1) * columns);
        const length = normOf(norm, own);
        if (length !== 0) for (let c = 0; c < columns; c++) own[c] = (own[c] as number) / length;
      }
      return [numbersTensor(FLOAT, (tensor as Tensor).dims, out)];
    };
  },
  Imputer: ({ attributes }) => {
    const floats = numbersOf(attributes, 'imputed_value_floats');
    const list = floats.length > 0 ? floats : numbersOf(attributes, 'imputed_value_int64s');
    const replaced = numberIn(attributes, 'replaced_value_float', Number.NaN);
    return ([tensor]) => {
      const [, columns] = matrixDims(tensor as Tensor);
      const { type, dims, numbers } = tensor as Tensor;
      const isReplaced = (x: number) => Object.is(x, replaced) || x === replaced;
      const out = numbers.map((x, i) =>
        isReplaced(x) ? ((list.length === 1 ? list[0] : list[i % columns]) as number) : x,
      );
      return [numbersTensor(type, dims, out)];
    };
  },
  LabelEncoder: ({ attributes }) => {
    const keys = keysOf(attributes, 'keys');
    const values = keysOf(attributes, 'values');
    const positions = new Map<string | number, number>();
    for (const [index, key] of keys.list.entries()) {
      if (!positions.has(key)) positions.set(key, index);
    }
    const missing = typeof values.list[0] === 'string' ? '_Unused' : values.type === INT64 ? -1 : 0;
    const own = { [INT64]: 'default_int64', [FLOAT]: 'default_float', [STRING]: 'default_string' };
    const otherwise = attributes[own[values.type as keyof typeof own]] ?? missing;
    return ([tensor]) => {
      const { dims, numbers, texts } = tensor as Tensor;
      const source: ArrayLike<string | number> = texts ?? numbers;
      const out = Array.from(source, (key) => {
        const position = positions.get(key);
        return position === undefined ? otherwise : (values.list[position] as string | number);
      });
      return values.type === STRING
        ? [textsTensor(dims, out.map(String))]
        : [numbersTensor(values.type, dims, Float64Array.from(out, Number))];
    };
  },
  OneHotEncoder: ({ attributes }) => {
    const texts = textsOf(attributes, 'cats_strings');
    const numbers = numbersOf(attributes, 'cats_int64s');
    const isZero = numberIn(attributes, 'zeros', 1) === 1;
    return ([tensor]) => {
      const { dims } = tensor as Tensor;
      const source: ArrayLike<string | number> =
        (tensor as Tensor).texts ?? (tensor as Tensor).numbers;
      const categories: readonly (string | number)[] = texts.length > 0 ? texts : numbers;
      const width = categories.length;
      const out = new Float64Array(source.length * width);
      for (let i = 0; i < source.length; i++) {
        const index = categories.indexOf(source[i] as string | number);
        if (index >= 0) out[i * width + index] = 1;
        else if (!isZero) throw failure('DATA_ERROR', `category ${source[i]} is not known`);
      }
      return [numbersTensor(FLOAT, [...dims, width], out)];
    };
  },
  ArrayFeatureExtractor:
    () =>
    ([tensor, indexes]) => [
      gather(
        tensor as Tensor,
        { ...(indexes as Tensor), dims: [(indexes as Tensor).numbers.length] },
        -1,
      ),
    ],
  // What it makes of the scores, a map, is made when outputs are read.
  ZipMap: () => (inputs) => [inputs[0] as Tensor],
};

export const OPERATOR_NAMES: readonly string[] = [
  ...Object.keys(GENERAL),
  ...Object.keys(CLASSIC),
].sort();

/** @throws DATA_ERROR naming an operator that is not there, and those that are */
export function makeOperator(node: OnnxNode, opset: number): Operator {
  const table = node.domain === ML_DOMAIN ? CLASSIC : node.domain === '' ? GENERAL : {};
  const make = Object.hasOwn(table, node.op) ? table[node.op] : undefined;
  if (make === undefined) {
    const domain = node.domain === '' ? '' : `${node.domain}.`;
    throw failure(
      'DATA_ERROR',
      `the ONNX file has an operator that is not supported, ${domain}${node.op}; supported are ${OPERATOR_NAMES.join(', ')}`,
      { operator: node.op, domain: node.domain },
    );
  }
  return make(node, opset);
}

function cast(tensor: Tensor, to: number): Tensor {
  const { dims, numbers, texts } = tensor;
  if (to === STRING) {
    return textsTensor(
      dims,
      texts ?? Array.from(numbers, (x) => (Number.isNaN(x) ? 'NaN' : String(x))),
    );
  }
  const source = texts === undefined ? numbers : Float64Array.from(texts, Number);
  if (to === FLOAT || to === DOUBLE) return numbersTensor(to, dims, source.slice());
  if (to === BOOL)
    return numbersTensor(
      to,
      dims,
      source.map((x) => Number(x !== 0)),
    );
  return numbersTensor(to, dims, source.map(Math.trunc));
}

function concat(inputs: readonly Tensor[], along: number): Tensor {
  const [first] = inputs as [Tensor];
  const axis = axisOf(along, first.dims.length);
  const total = inputs.reduce((sum, { dims }) => sum + (dims[axis] as number), 0);
  const dims = first.dims.map((size, each) => (each === axis ? total : size));
  const [outer] = aroundAxis(first.dims, axis);
  const texts: string[] = [];
  const numbers = new Float64Array(sizeOf(dims));
  let at = 0;
  for (let o = 0; o < outer; o++) {
    for (const tensor of inputs) {
      const [own, size, inner] = aroundAxis(tensor.dims, axis);
      if (own !== outer) throw failure('DATA_ERROR', 'tensors of different sizes are concatenated');
      const count = size * inner;
      if (tensor.texts === undefined)
        numbers.set(tensor.numbers.subarray(o * count, (o + 1) * count), at);
      else texts.push(...tensor.texts.slice(o * count, (o + 1) * count));
      at += count;
    }
  }
  return first.texts === undefined
    ? numbersTensor(first.type, dims, numbers)
    : textsTensor(dims, texts);
}

function gather(tensor: Tensor, indexes: Tensor, along: number): Tensor {
  const axis = axisOf(along, tensor.dims.length);
  const [outer, size, inner] = aroundAxis(tensor.dims, axis);
  const dims = [...tensor.dims.slice(0, axis), ...indexes.dims, ...tensor.dims.slice(axis + 1)];
  const positions = new Int32Array(sizeOf(dims));
  let at = 0;
  for (let o = 0; o < outer; o++) {
    for (const index of indexes.numbers) {
      const own = index < 0 ? index + size : index;
      if (!(own >= 0 && own < size))
        throw failure('DATA_ERROR', `index ${index} of ${size} elements`);
      for (let i = 0; i < inner; i++) positions[at++] = (o * size + own) * inner + i;
    }
  }
  return pick(tensor, dims, positions);
}

function reshape(tensor: Tensor, shape: readonly number[]): Tensor {
  const count = sizeOf(tensor.dims);
  const dims = shape.map((size, axis) => (size === 0 ? (tensor.dims[axis] ?? 0) : size));
  const open = dims.indexOf(-1);
  const known = sizeOf(dims.filter((size) => size !== -1));
  if (open >= 0) dims[open] = known === 0 ? 0 : count / known;
  if (sizeOf(dims) !== count) {
    throw failure('DATA_ERROR', `${count} elements cannot have the shape ${shape.join(' x ')}`);
  }
  return { ...tensor, dims };
}

function transposed(tensor: Tensor): Tensor {
  const [rows, columns] = matrixDims(tensor);
  const positions = new Int32Array(rows * columns);
  for (let i = 0; i < positions.length; i++) {
    positions[i] = (i % rows) * columns + Math.floor(i / rows);
  }
  return pick(tensor, [columns, rows], positions);
}

function product(a: Tensor, b: Tensor): Tensor {
  const [rows, inner] = matrixDims(a);
  const [own, columns] = matrixDims(b);
  if (inner !== own) {
    throw failure('DATA_ERROR', `a matrix of ${inner} columns times one of ${own} rows`);
  }
  const out = new Float64Array(rows * columns);
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < inner; k++) {
      const x = a.numbers[row * inner + k] as number;
      for (let c = 0; c < columns; c++) {
        const place = row * columns + c;
        out[place] = (out[place] as number) + x * (b.numbers[k * columns + c] as number);
      }
    }
  }
  return numbersTensor(a.type, [rows, columns], out);
}

function reduced(compute: (values: Float64Array) => number): OperatorMaker {
  return ({ attributes }) => {
    const own = numbersOf(attributes, 'axes');
    const keeps = numberIn(attributes, 'keepdims', 1) === 1;
    return ([tensor, axes]) => {
      const { type, dims, numbers } = tensor as Tensor;
      const [along = -1, ...more] = Array.from(axes?.numbers ?? own);
      if (more.length > 0)
        throw failure('DATA_ERROR', 'reductions are supported along one axis only');
      const axis = axisOf(along, dims.length);
      const [outer, size, inner] = aroundAxis(dims, axis);
      const out = new Float64Array(outer * inner);
      const values = new Float64Array(size);
      for (let o = 0; o < outer; o++) {
        for (let i = 0; i < inner; i++) {
          for (let k = 0; k < size; k++) values[k] = numbers[(o * size + k) * inner + i] as number;
          out[o * inner + i] = compute(values);
        }
      }
      const rest = dims.flatMap((each, at) => (at !== axis ? [each] : keeps ? [1] : []));
      return [numbersTensor(type, rest, out)];
    };
  };
}

function normOf(norm: string, values: Float64Array): number {
  switch (norm) {
    case 'L1':
      return values.reduce((sum, x) => sum + Math.abs(x), 0);
    case 'L2':
      return Math.sqrt(values.reduce((sum, x) => sum + x * x, 0));
    default:
      return values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  }
}

function keysOf(attributes: OnnxNode['attributes'], prefix: string) {
  const texts = textsOf(attributes, `${prefix}_strings`);
  if (texts.length > 0) return { type: STRING, list: texts };
  const integers = numbersOf(attributes, `${prefix}_int64s`);
  if (integers.length > 0) return { type: INT64, list: integers };
  return { type: FLOAT, list: numbersOf(attributes, `${prefix}_floats`) };
}
