import { expect, test } from 'vitest';
import { kernels, put, read, repeat, room } from './support.ts';

function offsetsOf(texts: readonly string[]): Uint32Array {
  const offsets = [0];
  for (const text of texts) offsets.push((offsets.at(-1) as number) + Buffer.byteLength(text));
  return Uint32Array.from(offsets);
}

test('joinedNames writes the name of the row and the text of the column, of a size that is known', () => {
  repeat((draw) => {
    const rowCount = draw.integer(1, 20);
    const suffixes = draw.list(draw.integer(1, 4), () => `.${'cä'.repeat(draw.integer(0, 20))}`);
    const first = draw.integer(-50, 1e9);
    const numbers = draw.list(rowCount, () => draw.integer(-1e15, 1e15));
    const paths = draw.list(rowCount, () => 'p'.repeat(draw.integer(0, 40)));
    const form = draw.pick(['sequence', 'numbers', 'paths']);
    const names = Array.from({ length: rowCount }, (_, row) =>
      form === 'paths' ? paths[row] : String(form === 'numbers' ? numbers[row] : first + row),
    );
    const cells = draw
      .list(draw.integer(0, 60), () => [
        draw.integer(0, rowCount - 1),
        draw.integer(0, suffixes.length - 1),
      ])
      .sort(([a], [b]) => (a as number) - (b as number));
    const plain = cells.map(
      ([row, column]) => `${names[row as number]}${suffixes[column as number]}`,
    );
    const out = room(Buffer.byteLength(plain.join('')) + 16);
    const outOffsets = room(4 * (cells.length + 1));
    const isPaths = form === 'paths';
    const rows = put(Uint32Array.from(cells, ([row]) => row as number));
    const columns = put(Uint16Array.from(cells, ([, column]) => column as number));
    const given = [
      first,
      form === 'numbers' ? put(Float64Array.from(numbers)) : 0,
      isPaths ? put(Buffer.from(paths.join(''))) : 0,
      isPaths ? put(offsetsOf(paths)) : 0,
      put(Buffer.from(suffixes.join(''))),
      put(offsetsOf(suffixes)),
      out,
    ] as const;
    const [, numbersAt, , offsetsAt, , suffixOffsetsAt] = given;
    expect(
      kernels.joinedNamesSize(
        ...([rows, columns, cells.length, first, numbersAt, offsetsAt] as const),
        suffixOffsetsAt,
      ),
    ).toBe(Buffer.byteLength(plain.join('')));
    // In two parts.
    const head = draw.integer(0, cells.length);
    const start = kernels.joinedNames(rows, columns, head, ...given, 0, outOffsets);
    const rest = [rows + 4 * head, columns + 2 * head, cells.length - head] as const;
    const size = kernels.joinedNames(...rest, ...given, start, outOffsets + 4 * head);
    expect(Buffer.from(read(Uint8Array, out, size)).toString()).toBe(plain.join(''));
    expect(read(Uint32Array, outOffsets, cells.length + 1)).toEqual(offsetsOf(plain));
  });
});
