// Tensors as operators compute with them.
import { failure } from '../../util/error.ts';
import { FLOAT, STRING, type Tensor } from './model.ts';

/** Numbers, rounded to floats where the type says so. */
export function numbersTensor(
  type: number,
  dims: readonly number[],
  numbers: Float64Array,
): Tensor {
  if (type === FLOAT)
    for (let i = 0; i < numbers.length; i++) numbers[i] = Math.fround(numbers[i] as number);
  return { type, dims, numbers };
}

export function textsTensor(dims: readonly number[], texts: readonly string[]): Tensor {
  return { type: STRING, dims, numbers: new Float64Array(), texts };
}

export function sizeOf(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}

/** Rows and columns of a matrix; a list is one column. @throws DATA_ERROR for more dimensions */
export function matrixDims({ dims }: Tensor): readonly [rows: number, columns: number] {
  if (dims.length > 2)
    throw failure('DATA_ERROR', `a matrix is needed, not shape ${dims.join(' x ')}`);
  return [dims[0] ?? 1, dims[1] ?? 1];
}

/** An axis as a position; negative ones count from the end. */
export function axisOf(axis: number, rank: number): number {
  const position = axis < 0 ? axis + rank : axis;
  if (position >= 0 && position < rank) return position;
  throw failure('DATA_ERROR', `axis ${axis} of a tensor of ${rank} dimensions`);
}

/** Elements before, along and after an axis. */
export function aroundAxis(
  dims: readonly number[],
  axis: number,
): readonly [outer: number, size: number, inner: number] {
  return [sizeOf(dims.slice(0, axis)), dims[axis] as number, sizeOf(dims.slice(axis + 1))];
}

/** The shape that shapes are stretched to together. @throws DATA_ERROR where they do not fit */
export function broadcastDims(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, position) => {
    let size = 1;
    for (const shape of shapes) {
      const own = shape[position - rank + shape.length] ?? 1;
      if (own === 1 || own === size) continue;
      if (size !== 1) {
        const told = shapes.map((each) => `[${each.join(', ')}]`).join(' and ');
        throw failure('DATA_ERROR', `tensors of shapes ${told} do not fit together`);
      }
      size = own;
    }
    return size;
  });
}

/** Where the elements of a tensor stand that is stretched to a shape. */
export function broadcastPositions(from: readonly number[], to: readonly number[]): Int32Array {
  const positions = new Int32Array(sizeOf(to));
  const offset = to.length - from.length;
  for (let i = 0; i < positions.length; i++) {
    let rest = i;
    let stride = 1;
    let position = 0;
    for (let axis = to.length - 1; axis >= 0; axis--) {
      const index = rest % (to[axis] as number);
      rest = Math.floor(rest / (to[axis] as number));
      const own = from[axis - offset] ?? 1;
      if (axis < offset) continue;
      if (own !== 1) position += index * stride;
      stride *= own;
    }
    positions[i] = position;
  }
  return positions;
}

export function elementwise(
  type: number,
  tensors: readonly Tensor[],
  compute: (values: readonly number[]) => number,
): Tensor {
  const dims = broadcastDims(tensors.map((tensor) => tensor.dims));
  const at = tensors.map((tensor) => broadcastPositions(tensor.dims, dims));
  const out = new Float64Array(sizeOf(dims));
  const values = new Array<number>(tensors.length).fill(0);
  for (let i = 0; i < out.length; i++) {
    for (let t = 0; t < tensors.length; t++) {
      values[t] = (tensors[t] as Tensor).numbers[(at[t] as Int32Array)[i] as number] as number;
    }
    out[i] = compute(values);
  }
  return numbersTensor(type, dims, out);
}

/** Elements at positions; `numbers` or `texts`, whichever there are. */
export function pick(
  tensor: Tensor,
  dims: readonly number[],
  positions: ArrayLike<number>,
): Tensor {
  const { texts } = tensor;
  if (texts !== undefined) {
    return textsTensor(
      dims,
      Array.from(positions, (at) => texts[at] as string),
    );
  }
  const numbers = Float64Array.from(positions, (at) => tensor.numbers[at] as number);
  return { type: tensor.type, dims, numbers };
}
