// Columns of codes brought to one dictionary.

import type { Atom } from '../../../value/atom.ts';
import { keyOfAtom } from '../../../value/canonical-key.ts';
import { encodeCodes } from '../../../value/column/chunk-encoder.ts';
import { ColumnView } from '../../../value/column/column-view.ts';
import type {
  ChunkSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
} from '../../../value/column/snapshot.ts';
import type { OperatorContext } from '../materialize.ts';
import { encodeDictionary } from './encode-column.ts';

interface MergedColumns {
  readonly dictionary: DictionarySnapshot;
  /** the chunks of one of the columns with the codes of the dictionary */
  chunksOf(column: ColumnSnapshot): readonly ChunkSnapshot[];
}

/** Undefined without columns. */
export function mergeDictionaries(
  columns: readonly ColumnSnapshot[],
  { memory, compiler }: OperatorContext,
): MergedColumns | undefined {
  const [first, ...others] = columns.map(({ dictionary }) => dictionary as DictionarySnapshot);
  if (first === undefined) return undefined;
  if (others.every(({ id }) => id === first.id)) {
    return { dictionary: first, chunksOf: ({ chunks }) => chunks };
  }
  const numbers = new Map<unknown, number>();
  const atoms: Atom[] = [];
  const tables = new Map<number, Uint32Array>();
  for (const column of columns) {
    const dictionary = column.dictionary as DictionarySnapshot;
    if (tables.has(dictionary.id)) continue;
    const view = new ColumnView(column, memory.arenas);
    const table = new Uint32Array(dictionary.count + 1);
    for (let code = 1; code < table.length; code++) {
      const atom = view.dictionary?.atom(code) ?? null;
      const key = keyOfAtom(atom);
      let number = numbers.get(key);
      if (number === undefined) {
        number = atoms.push(atom);
        numbers.set(key, number);
      }
      table[code] = number;
    }
    tables.set(dictionary.id, table);
  }
  const { dictionary, codes } = encodeDictionary(atoms, memory);
  return {
    dictionary,
    chunksOf(column) {
      const view = new ColumnView(column, memory.arenas);
      const table = tables.get((column.dictionary as DictionarySnapshot).id) as Uint32Array;
      let row = 0;
      return column.chunks.map((chunk) => {
        compiler.runtime.scope.checkCancelled();
        const { rowCount } = chunk;
        const made = new Uint32Array(rowCount);
        for (let i = 0; i < rowCount; i++) {
          const number = table[view.codeAt(row++)] as number;
          made[i] = number === 0 ? 0 : (codes[number - 1] as number);
        }
        return memory.holdChunk(encodeCodes(made, rowCount, memory.arenas));
      });
    },
  };
}
