import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { Atom } from '../../../../src/value/atom.ts';
import { atomsEqual, compareAtoms } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import {
  DictionaryBuilder,
  DictionaryView,
  dictionaryView,
  mergeDictionaries,
} from '../../../../src/value/column/dictionary.ts';
import { uint32Of } from '../../../../src/value/column/span-view.ts';
import { arbitraryAtom, arbitraryText } from '../../../support/atoms.ts';

const arenas = ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

function withDictionary(
  atoms: readonly Atom[],
  check: (view: DictionaryView, codes: number[]) => void,
) {
  const builder = new DictionaryBuilder(arenas);
  const codes = atoms.map((atom) => builder.add(atom));
  const snapshot = builder.seal();
  try {
    check(new DictionaryView(snapshot, arenas), codes);
  } finally {
    arenas.free(snapshot.bytes);
    arenas.free(snapshot.offsets);
  }
}

describe('DictionaryBuilder', () => {
  test('codes give the atoms back, equal atoms share a code', () => {
    const atoms = fc.oneof(
      fc.array(arbitraryText, { maxLength: 100 }),
      fc.array(arbitraryAtom, { maxLength: 100 }),
    );
    fc.assert(
      fc.property(atoms, (atoms) => {
        withDictionary(atoms, (view, codes) => {
          atoms.forEach((atom, i) => {
            expect(atomsEqual(view.atom(codes[i] as number), atom)).toBe(true);
            expect(view.find(atom)).toBe(codes[i]);
          });
          const isText = atoms.every((atom) => atom === null || typeof atom === 'string');
          expect(view.snapshot.kind).toBe(isText ? 'text' : 'mixed');
        });
      }),
    );
  });

  test('a text among numbers stays apart from them', () => {
    withDictionary(['1', 1, '1'], (view, codes) => {
      expect(codes).toEqual([1, 2, 1]);
      expect(view.find(1)).toBe(2);
      expect(view.find(2)).toBeUndefined();
    });
  });

  test('many entries are found again', () => {
    const texts = Array.from({ length: 50_000 }, (_, i) => `entry ${i}`);
    withDictionary(texts, (view, codes) => {
      expect(codes).toEqual(texts.map((_, i) => i + 1));
      expect(view.find('entry 49999')).toBe(50_000);
    });
  });

  test('continues a sealed dictionary with the same codes', () => {
    const first = new DictionaryBuilder(arenas);
    first.add('a');
    first.add('b');
    const sealed = first.seal();
    const second = DictionaryBuilder.from(arenas, sealed);
    expect([second.add('b'), second.add('c'), second.add(1)]).toEqual([2, 3, 4]);
    second.release();
    arenas.free(sealed.bytes);
    arenas.free(sealed.offsets);
  });
});

describe('DictionaryView', () => {
  test('order and ranks follow the order of atoms', () => {
    fc.assert(
      fc.property(fc.array(arbitraryAtom, { maxLength: 60 }), (atoms) => {
        withDictionary(atoms, (view) => {
          const ordered = Array.from(view.order(), (code) => view.atom(code));
          for (let i = 1; i < ordered.length; i++) {
            expect(compareAtoms(ordered[i - 1] as Atom, ordered[i] as Atom)).toBeLessThanOrEqual(0);
          }
          const ranks = view.ranks();
          expect(ranks[0]).toBe(0);
          view.order().forEach((code, i) => {
            expect(ranks[code]).toBe(i + 1);
          });
        });
      }),
    );
  });

  test.each([
    [['a', 'b', 'ä'], true],
    [['b', 'a'], false],
    [[], true],
    [[1, 'a'], true],
    [['a', 1], false],
  ])('%j is sorted: %s', (atoms, sorted) => {
    withDictionary(atoms, (view) => expect(view.snapshot.sorted).toBe(sorted));
  });

  test('a thread has one view of a dictionary', () => {
    withDictionary(['a'], (view) => {
      expect(dictionaryView(view.snapshot, arenas)).toBe(dictionaryView(view.snapshot, arenas));
    });
  });
});

test('merging keeps every atom and maps every code', () => {
  const lists = fc.array(fc.array(fc.oneof(arbitraryText, arbitraryAtom), { maxLength: 20 }), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(lists, (lists) => {
      const parts = lists.map((atoms) => {
        const builder = new DictionaryBuilder(arenas);
        for (const atom of atoms) builder.add(atom);
        return builder.seal();
      });
      const { dictionary, remaps } = mergeDictionaries(parts, arenas);
      const merged = new DictionaryView(dictionary, arenas);
      parts.forEach((part, p) => {
        const view = new DictionaryView(part, arenas);
        const remap = uint32Of(arenas, remaps[p] ?? part.bytes);
        for (let code = 0; code <= part.count; code++) {
          expect(atomsEqual(merged.atom(remap[code] as number), view.atom(code))).toBe(true);
        }
      });
      for (const span of [dictionary, ...parts].flatMap((d) => [d.bytes, d.offsets])) {
        arenas.free(span);
      }
      for (const span of remaps) arenas.free(span);
    }),
  );
});
