import { expect, test } from 'vitest';
import { kernels, put, read, repeat, room } from './support.ts';

test('interleaved columns lie row by row', () => {
  repeat((draw) => {
    const rowCount = draw.integer(0, 30);
    const stride = draw.integer(1, 5);
    const columns = Array.from({ length: stride }, () =>
      draw.list(rowCount, () => draw.integer(0, 255)),
    );
    const plain = Array.from({ length: rowCount * stride }, (_, at) => {
      return columns[at % stride]?.[Math.floor(at / stride)] as number;
    });
    const out = [1, 4, 8].map((size) => room(size * rowCount * stride)) as [number, number, number];
    columns.forEach((values, column) => {
      const bytes = put(Uint8Array.from(values));
      kernels.interleaveBytes(bytes, rowCount, stride, out[0] + column);
      const words = put(Int32Array.from(values));
      kernels.interleaveI32(words, rowCount, stride, out[1] + column * 4);
      const doubles = put(Float64Array.from(values));
      kernels.interleaveF64(doubles, rowCount, stride, out[2] + column * 8);
    });
    expect([...read(Uint8Array, out[0], plain.length)]).toEqual(plain);
    expect([...read(Int32Array, out[1], plain.length)]).toEqual(plain);
    expect([...read(Float64Array, out[2], plain.length)]).toEqual(plain);
  });
});

test('presentCells lists the cells that there are', () => {
  repeat((draw) => {
    const rowCount = draw.integer(0, 30);
    const stride = draw.integer(1, 5);
    const size = rowCount * stride;
    const present = draw.list(size, () => draw.integer(0, 1));
    const isWhole = draw.integer(0, 3) === 0;
    const plain = Array.from({ length: size }, (_, cell) => cell).filter(
      (cell) => isWhole || present[cell] === 1,
    );
    const [rows, columns, cells] = [room(size * 4), room(size * 2), room(size * 4)] as const;
    const bytes = isWhole ? 0 : put(Uint8Array.from(present));
    const count = kernels.presentCells(bytes, rowCount, stride, rows, columns, cells);
    expect([...read(Uint32Array, cells, count)]).toEqual(plain);
    expect([...read(Uint32Array, rows, count)]).toEqual(plain.map((cell) => (cell / stride) | 0));
    expect([...read(Uint16Array, columns, count)]).toEqual(plain.map((cell) => cell % stride));
  });
});
