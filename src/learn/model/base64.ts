// Arrays of numbers inside JSON.
import { failure } from '../../util/error.ts';

const ARRAY_TYPES = {
  f64: Float64Array,
  f32: Float32Array,
  u32: Uint32Array,
  i32: Int32Array,
  u8: Uint8Array,
} as const;
type DataType = keyof typeof ARRAY_TYPES;
type ArrayOf<Type extends DataType> = InstanceType<(typeof ARRAY_TYPES)[Type]>;

/** Little-endian numbers as base64. */
export interface ArrayBlock {
  readonly dtype: DataType;
  readonly shape: readonly number[];
  readonly b64: string;
}

export function encodeArray(
  array: Float64Array | Float32Array | Uint32Array | Int32Array | Uint8Array,
): ArrayBlock {
  const names = Object.keys(ARRAY_TYPES) as DataType[];
  const dtype = names.find((name) => array instanceof ARRAY_TYPES[name]) as DataType;
  // Every platform that Node runs on is little-endian.
  const bytes = Buffer.from(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
  return { dtype, shape: [array.length], b64: bytes.toString('base64') };
}

/** @throws DATA_ERROR naming the block when it is not an array of that type */
export function decodeArray<Type extends DataType>(
  value: unknown,
  dtype: Type,
  name: string,
): ArrayOf<Type> {
  const block = value as Partial<ArrayBlock> | null;
  const { BYTES_PER_ELEMENT } = ARRAY_TYPES[dtype];
  if (typeof block === 'object' && block?.dtype === dtype && typeof block.b64 === 'string') {
    const bytes = Buffer.from(block.b64, 'base64');
    const length = block.shape?.[0];
    if (bytes.length === (length ?? -1) * BYTES_PER_ELEMENT) {
      // A copy of its own, because views of numbers need an aligned start.
      const copy = new Uint8Array(bytes);
      return new ARRAY_TYPES[dtype](copy.buffer) as ArrayOf<Type>;
    }
  }
  throw failure('DATA_ERROR', `model file: ${name} is not a block of ${dtype} numbers`);
}
