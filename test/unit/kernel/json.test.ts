import { expect, test } from 'vitest';
import { kernels, put, read, repeat, room } from './support.ts';

test.each([false, true])('jsonNumberRows, lines: %s', (isLines) => {
  repeat((draw) => {
    const number = () =>
      draw.pick(['0', '-0', '1', '-12', '3.25', '1e3', '1E-7', '123456789012', '0.1', '-7.5e+2']);
    const space = () => draw.pick(['', '', ' ', '\t']);
    const spaced = (parts: readonly string[]) => parts.map((part) => `${space()}${part}${space()}`);
    const rows = draw.list(draw.integer(1, 6), () => draw.list(draw.integer(0, 5), number));
    const texts = rows.map((row) => `${space()}[${spaced(row).join(',')}${space()}]${space()}`);
    // Now and then an array that holds something else, before which reading stops.
    const bad = draw.chance(0.4) ? draw.integer(0, rows.length - 1) : rows.length;
    if (bad < rows.length)
      texts[bad] = draw.pick(['[1,"a"]', '{}', '[1 2]', '[01]', '[[1]]', '[-]']);
    const text = isLines ? texts.map((each) => `${each}\n`).join('') : `${texts.join(',')}]`;
    const start = put(new TextEncoder().encode(`${text}\0abcdefg`));
    const [numbers, ends, report] = [room(64 * 8), room(16 * 4), room(8)];
    const rowMax = draw.pick([16, 2]);
    const found = kernels.jsonNumberRows(
      ...([start, start + text.length, isLines, true, numbers, 64, ends, rowMax, report] as const),
    );
    const whole = rows.slice(0, Math.min(bad, rowMax));
    expect(found).toBe(whole.length);
    const plain = whole.flat().map((each) => Number(each) + 0);
    expect([...read(Float64Array, numbers, plain.length)]).toEqual(plain);
    const counts = whole.map((_, i) => whole.slice(0, i + 1).flat().length);
    expect([...read(Int32Array, ends, found)]).toEqual(counts);
    const next = (read(Uint32Array, report, 1)[0] as number) - start;
    const behind = texts.slice(0, found).reduce((size, each) => size + each.length + 1, 0);
    expect(next).toBe(
      Math.min(behind, !isLines && found === rows.length ? text.length - 1 : behind),
    );
  }, 100);
});
