import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Diff, diff, patch } from '../../../../src/plugin/guest/diff.ts';

const json = () => fc.jsonValue({ maxDepth: 3 });

describe('diff', () => {
  test('names what was replaced, added and removed', () => {
    expect(diff({ a: 1, b: 2, c: { d: [1] } }, { b: 3, c: { d: [2] }, e: 4 })).toEqual({
      f: {
        a: { '-': 1 },
        b: { '-': 2, '+': 3 },
        c: { f: { d: { '-': [1], '+': [2] } } },
        e: { '+': 4 },
      },
    });
  });

  test('is empty for equal values, whatever the order of their members', () => {
    expect(diff({ a: 1, b: [2] }, { b: [2], a: 1 })).toEqual({});
  });

  test('can take texts for numbers', () => {
    expect(diff({ x: 1 }, { x: '1.0' }, false)).toEqual({});
    expect(diff({ x: 1 }, { x: '1.0' })).toEqual({ f: { x: { '-': 1, '+': '1.0' } } });
  });
});

describe('patch', () => {
  test('applies what diff found', () => {
    fc.assert(
      fc.property(json(), json(), (before, after) => {
        const [patched, rest] = patch(before, diff(before, after));
        expect(diff(patched, after)).toEqual({});
        expect(rest).toEqual({});
      }),
    );
  });

  test('gives back what does not apply', () => {
    const difference: Diff = { f: { a: { '-': 1, '+': 2 }, b: { '-': 9, '+': 8 } } };
    expect(patch({ a: 1, b: 2 }, difference)).toEqual([
      { a: 2, b: 2 },
      { f: { b: { '-': 9, '+': 8 } } },
    ]);
  });
});
