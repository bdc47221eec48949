// ONNX models as plain values, and as files.
// @see https://github.com/onnx/onnx/blob/main/onnx/onnx.proto
import { failure } from '../../util/error.ts';
import { Message, MessageWriter } from './wire.ts';

export const FLOAT = 1;
export const INT64 = 7;
export const STRING = 8;
export const BOOL = 9;
export const DOUBLE = 11;
const UINT8 = 2;
const INT8 = 3;
const INT32 = 6;

/** Operators of classic machine learning, such as tree ensembles. */
export const ML_DOMAIN = 'ai.onnx.ml';

export interface Tensor {
  /** one of the type numbers above */
  readonly type: number;
  readonly dims: readonly number[];
  readonly numbers: Float64Array;
  /** of type STRING */
  readonly texts?: readonly string[];
}

export type Attribute = number | string | Tensor | readonly number[] | readonly string[];

export interface OnnxNode {
  readonly op: string;
  readonly domain: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface ValueInfo {
  readonly name: string;
  /** 0: no tensor */
  readonly type: number;
  /** -1: any size */
  readonly dims: readonly number[];
}

export interface OnnxModel {
  readonly opset: number;
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly constants: ReadonlyMap<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

const IR_VERSION = 8;
const ML_OPSET = 3;

const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_STRING = 3;
const ATTRIBUTE_TENSOR = 4;
const ATTRIBUTE_FLOATS = 6;
const ATTRIBUTE_INTS = 7;
const ATTRIBUTE_STRINGS = 8;

/** Attributes that are numbers are whole ones; others are tensors. */
export function encodeOnnx(model: OnnxModel, producer: string): Uint8Array {
  const writer = new MessageWriter();
  writer.integer(1, IR_VERSION);
  writer.text(2, producer);
  writer.message(7, (graph) => {
    for (const node of model.nodes) graph.message(1, (out) => writeNode(out, node));
    graph.text(2, 'model');
    for (const [name, tensor] of model.constants) {
      graph.message(5, (out) => writeTensor(out, name, tensor));
    }
    for (const value of model.inputs) graph.message(11, (out) => writeValue(out, value));
    for (const value of model.outputs) graph.message(12, (out) => writeValue(out, value));
  });
  for (const [domain, version] of [
    ['', model.opset],
    [ML_DOMAIN, ML_OPSET],
  ] as const) {
    writer.message(8, (out) => {
      out.text(1, domain);
      out.integer(2, version);
    });
  }
  for (const [key, value] of Object.entries(model.metadata)) {
    writer.message(14, (out) => {
      out.text(1, key);
      out.text(2, value);
    });
  }
  return writer.finish();
}

function writeNode(out: MessageWriter, node: OnnxNode): void {
  for (const name of node.inputs) out.text(1, name);
  for (const name of node.outputs) out.text(2, name);
  out.text(4, node.op);
  for (const [name, value] of Object.entries(node.attributes)) {
    out.message(5, (inner) => writeAttribute(inner, name, value));
  }
  if (node.domain !== '') out.text(7, node.domain);
}

function writeAttribute(out: MessageWriter, name: string, value: Attribute): void {
  out.text(1, name);
  if (typeof value === 'number') {
    out.integer(3, value);
    out.integer(20, ATTRIBUTE_INT);
  } else if (typeof value === 'string') {
    out.text(4, value);
    out.integer(20, ATTRIBUTE_STRING);
  } else if ('dims' in value) {
    out.message(5, (inner) => writeTensor(inner, '', value));
    out.integer(20, ATTRIBUTE_TENSOR);
  } else if (value.every((each) => typeof each === 'string')) {
    for (const each of value) out.text(9, each);
    out.integer(20, ATTRIBUTE_STRINGS);
  } else {
    for (const each of value) out.integer(8, each as number);
    out.integer(20, ATTRIBUTE_INTS);
  }
}

function writeTensor(out: MessageWriter, name: string, tensor: Tensor): void {
  for (const size of tensor.dims) out.integer(1, size);
  out.integer(2, tensor.type);
  for (const text of tensor.texts ?? []) out.text(6, text);
  out.text(8, name);
  if (tensor.type === STRING) return;
  const arrays = {
    [FLOAT]: () => Float32Array.from(tensor.numbers),
    [DOUBLE]: () => tensor.numbers,
    [INT64]: () => BigInt64Array.from(tensor.numbers, BigInt),
  };
  const array = arrays[tensor.type as keyof typeof arrays]();
  out.bytes(9, new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
}

function writeValue(out: MessageWriter, { name, type, dims }: ValueInfo): void {
  out.text(1, name);
  out.message(2, (kind) =>
    kind.message(1, (tensor) => {
      tensor.integer(1, type);
      tensor.message(2, (shape) => {
        for (const size of dims) {
          shape.message(1, (dim) => {
            if (size >= 0) dim.integer(1, size);
            else dim.text(2, 'N');
          });
        }
      });
    }),
  );
}

/** @throws DATA_ERROR when the bytes are no ONNX model */
export function decodeOnnx(bytes: Uint8Array): OnnxModel {
  const model = new Message(bytes);
  const [graph] = model.messages(7);
  if (graph === undefined || !model.has(1)) {
    throw failure('DATA_ERROR', 'not an ONNX file: it has no graph');
  }
  const opsets = model.messages(8).map((set) => [set.text(1), set.integer(2)] as const);
  const constants = new Map<string, Tensor>();
  for (const tensor of graph.messages(5)) constants.set(tensor.text(8), readTensor(tensor));
  const inputs = graph.messages(11).map(readValue);
  return {
    opset: opsets.find(([domain]) => domain === '' || domain === 'ai.onnx')?.[1] ?? 1,
    nodes: graph.messages(1).map(readNode),
    // Earlier versions list constants among the inputs.
    inputs: inputs.filter(({ name }) => !constants.has(name)),
    outputs: graph.messages(12).map(readValue),
    constants,
    metadata: Object.fromEntries(model.messages(14).map((entry) => [entry.text(1), entry.text(2)])),
  };
}

function readNode(node: Message): OnnxNode {
  const domain = node.text(7);
  return {
    op: node.text(4),
    domain: domain === 'ai.onnx' ? '' : domain,
    inputs: node.texts(1),
    outputs: node.texts(2),
    attributes: Object.fromEntries(
      node.messages(5).map((attribute) => [attribute.text(1), readAttribute(attribute)]),
    ),
  };
}

function readAttribute(attribute: Message): Attribute {
  switch (attribute.integer(20)) {
    case ATTRIBUTE_FLOAT:
      return attribute.floats(2).at(-1) ?? 0;
    case ATTRIBUTE_INT:
      return attribute.integer(3);
    case ATTRIBUTE_STRING:
      return attribute.text(4);
    case ATTRIBUTE_TENSOR:
      return readTensor(attribute.messages(5)[0] as Message);
    case ATTRIBUTE_FLOATS:
      return attribute.floats(7);
    case ATTRIBUTE_INTS:
      return attribute.integers(8);
    case ATTRIBUTE_STRINGS:
      return attribute.texts(9);
    default:
      throw failure(
        'DATA_ERROR',
        `ONNX attribute '${attribute.text(1)}' is of a kind that is not read here`,
      );
  }
}

function readTensor(tensor: Message): Tensor {
  const type = tensor.integer(2);
  const dims = tensor.integers(1);
  const count = dims.reduce((product, size) => product * size, 1);
  if (tensor.has(13) || tensor.integer(14) === 1) {
    throw failure('DATA_ERROR', 'the ONNX file keeps its weights in other files');
  }
  if (type === STRING) return { type, dims, numbers: new Float64Array(), texts: tensor.texts(6) };
  const raw = tensor.bytes(9);
  const numbers = raw === undefined ? listedNumbers(tensor, type) : rawNumbers(raw, type);
  if (numbers.length !== count) {
    throw failure('DATA_ERROR', `ONNX tensor '${tensor.text(8)}' is not as long as its shape`);
  }
  return { type, dims, numbers };
}

function listedNumbers(tensor: Message, type: number): Float64Array {
  switch (type) {
    case FLOAT:
      return Float64Array.from(tensor.floats(4));
    case DOUBLE:
      return Float64Array.from(tensor.doubles(10));
    case INT64:
      return Float64Array.from(tensor.integers(7));
    default:
      return Float64Array.from(tensor.integers(5));
  }
}

/** Bytes of a number, by type. */
const RAW_SIZES: Readonly<Record<number, number>> = {
  [FLOAT]: 4,
  [DOUBLE]: 8,
  [INT64]: 8,
  [INT32]: 4,
};

function rawNumbers(raw: Uint8Array, type: number): Float64Array {
  if (raw.length % (RAW_SIZES[type] ?? 1) !== 0) {
    throw failure('DATA_ERROR', 'an ONNX tensor is cut short');
  }
  // A copy, so that the numbers stand at multiples of their size.
  const { buffer } = new Uint8Array(raw);
  switch (type) {
    case FLOAT:
      return Float64Array.from(new Float32Array(buffer));
    case DOUBLE:
      return new Float64Array(buffer);
    case INT64:
      return Float64Array.from(new BigInt64Array(buffer), Number);
    case INT32:
      return Float64Array.from(new Int32Array(buffer));
    case INT8:
      return Float64Array.from(new Int8Array(buffer));
    case UINT8:
    case BOOL:
      return Float64Array.from(new Uint8Array(buffer));
    default:
      throw failure('DATA_ERROR', `ONNX tensors of type ${type} are not read here`);
  }
}

function readValue(value: Message): ValueInfo {
  const [tensor] = value.messages(2).flatMap((type) => type.messages(1));
  const [shape] = tensor?.messages(2) ?? [];
  return {
    name: value.text(1),
    type: tensor?.integer(1) ?? 0,
    dims: shape?.messages(1).map((dim) => (dim.has(1) ? dim.integer(1) : -1)) ?? [],
  };
}
