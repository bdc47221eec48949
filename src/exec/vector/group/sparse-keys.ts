// Keys of many values, or of numbers that are no codes: their values become words, and the distinct
// words that occur are numbered.
import type { BoundExpression } from '../../../plan/expression.ts';
import { assert } from '../../../util/assert.ts';
import type { Arena } from '../../../value/column/arena.ts';
import type { Span } from '../../../value/column/snapshot.ts';
import { threadKernels } from '../../thread-memory.ts';
import type { ArenaSpans } from '../arena-spans.ts';
import type { DictionaryTables } from '../dictionary-table.ts';
import type { VectorEngine } from '../engine.ts';
import {
  codeField,
  numberField,
  type OrderField,
  type OrderWord,
  packFields,
} from '../order/order-key.ts';
import type { LoweredCodes, LoweredNumbers, Lowering } from '../program/lower.ts';
import type { CodeProgram } from '../program/program.ts';
import type { GroupCells } from './group-cells.ts';
import type { KernelColumn, NumberColumn } from './group-column.ts';
import { type GroupKeys, numbersOfFields } from './group-key.ts';
import { type NumberedRows, type NumberedTable, numberRows } from './group-number.ts';

/** Where a key stands in the words, and what it is. */
interface SparseKey {
  readonly word: number;
  /** of packed keys */
  readonly shift: number;
  readonly bits: number;
  readonly content: KeyContent;
}

type KeyContent =
  /** ranks of codes */
  | { readonly kind: 'codes'; readonly lowered: LoweredCodes }
  | { readonly kind: 'integers'; readonly least: number; readonly ts: number }
  | { readonly kind: 'doubles'; readonly lowered: LoweredNumbers };

/** Keys as words, not numbered yet. */
export interface SparseKeysPlan {
  readonly words: readonly OrderWord[];
  readonly keys: readonly SparseKey[];
}

/** Undefined when a key is neither a column nor an expression over one dictionary. */
export function planSparseKeys(
  keys: readonly BoundExpression[],
  lowering: Lowering,
  dictionaries: DictionaryTables,
): SparseKeysPlan | undefined {
  const lowered: { readonly field: OrderField; readonly content: KeyContent }[] = [];
  for (const expression of keys) {
    const key = lowerSparseKey(expression, lowering, dictionaries);
    if (key === undefined) return undefined;
    lowered.push(key);
  }
  const words = packFields(lowered.map(({ field }) => field));
  const places = words.flatMap(placesIn);
  return {
    words,
    keys: lowered.map(({ content }, i) => ({ ...(places[i] as Place), content })),
  };
}

function lowerSparseKey(
  expression: BoundExpression,
  lowering: Lowering,
  dictionaries: DictionaryTables,
): { readonly field: OrderField; readonly content: KeyContent } | undefined {
  const numbers = expression.kind === 'column' ? lowering.numbers(expression) : undefined;
  if (lowering.exactTimestamps && numbers !== undefined && numbers.timed !== true) return undefined;
  if (numbers === undefined) {
    const codes = lowering.codes(expression);
    if (codes === undefined) return undefined;
    const field = codeField(codes, dictionaries, false);
    return { field, content: { kind: 'codes', lowered: codes } };
  }
  const field = numberField(numbers, lowering.integerBounds(expression), false);
  if ('kind' in field) return { field, content: { kind: 'doubles', lowered: numbers } };
  const { source } = field;
  assert('least' in source, 'numbers have no ranks');
  return { field, content: { kind: 'integers', least: source.least, ts: numbers.ts } };
}

type Place = Pick<SparseKey, 'word' | 'shift' | 'bits'>;

/** The places of a word's fields, from high to low bits. */
function placesIn(word: OrderWord, index: number): Place[] {
  if (word.kind === 'double') return [{ word: index, shift: 0, bits: 64 }];
  let shift = word.keys.reduce((sum, { bits }) => sum + bits, 0);
  return word.keys.map(({ bits }) => {
    shift -= bits;
    return { word: index, shift, bits };
  });
}

export class SparseKeys implements GroupKeys {
  readonly programs: readonly [CodeProgram];
  readonly cellCount: number;
  readonly #plan: SparseKeysPlan;
  /** the distinct values of each word */
  readonly #words: readonly NumberedRows[];
  /** pairs of the words so far and of the next; the last one is the groups */
  readonly #pairs: readonly NumberedRows[];
  readonly #memory: Arena;
  readonly #spans: ArenaSpans;

  constructor(plan: SparseKeysPlan, table: NumberedTable, engine: VectorEngine, spans: ArenaSpans) {
    this.#plan = plan;
    this.#memory = engine.arenas.get(spans.arena);
    this.#spans = spans;
    this.#words = plan.words.map((word) =>
      numberRows({ kind: 'order', word }, table, engine, spans),
    );
    const [first, ...others] = this.#words as readonly [NumberedRows, ...NumberedRows[]];
    const pairs: NumberedRows[] = [];
    let groups = first;
    for (const { program: lower } of others) {
      groups = numberRows({ kind: 'pair', upper: groups.program, lower }, table, engine, spans);
      pairs.push(groups);
    }
    this.#pairs = pairs;
    this.programs = [groups.program];
    this.cellCount = groups.count + 1;
  }

  /** All cells but that of the rows which the filter drops, in no order of meaning. */
  cells(): { readonly address: number; readonly count: number } {
    const count = this.cellCount - 1;
    const address = this.#spans.allocate(count * 4).offset;
    for (let i = 0; i < count; i++) this.#memory.i32[address / 4 + i] = i + 1;
    return { address, count };
  }

  words({ cells, count }: GroupCells): readonly Span[] {
    const words: Span[] = [];
    let numbers = cells;
    for (let depth = this.#words.length - 1; depth > 0; depth--) {
      const pairs = this.#pairs[depth - 1] as NumberedRows;
      const [upper, lower] = this.#halves(this.#valuesOf(pairs, numbers, count), count);
      words.unshift(this.#valuesOf(this.#words[depth] as NumberedRows, lower, count));
      numbers = upper;
    }
    words.unshift(this.#valuesOf(this.#words[0] as NumberedRows, numbers, count));
    return words;
  }

  columns(cells: GroupCells): KernelColumn[] {
    const words = this.words(cells);
    return this.#plan.keys.map((key) => this.#column(key, words[key.word] as Span, cells.count));
  }

  /** What numbers, which begin with 1, stand for. */
  #valuesOf({ keys }: NumberedRows, numbers: number, count: number): Span {
    const out = this.#spans.allocate(count * 8);
    threadKernels(this.#memory.id).gatherU64(keys.offset - 8, numbers, count, out.offset);
    return out;
  }

  #halves({ offset }: Span, count: number): [upper: number, lower: number] {
    const kernels = threadKernels(this.#memory.id);
    const upper = this.#spans.allocate(count * 4).offset;
    const lower = this.#spans.allocate(count * 4).offset;
    kernels.fieldsOfWords(offset, count, 32, 32, upper);
    kernels.fieldsOfWords(offset, count, 0, 32, lower);
    return [upper, lower];
  }

  #column({ shift, bits, content }: SparseKey, { offset }: Span, count: number): KernelColumn {
    if (content.kind === 'doubles') return this.#doubles(content.lowered, offset, count);
    const kernels = threadKernels(this.#memory.id);
    const out = this.#spans.allocate(count * 4).offset;
    kernels.fieldsOfWords(offset, count, shift, bits, out);
    const fields = this.#memory.u32.subarray(out / 4, out / 4 + count);
    if (content.kind === 'integers') return numbersOfFields(fields, content.least, content.ts);
    const { atom, order, ts } = content.lowered;
    const codeOf = order();
    const codes = new Int32Array(count);
    for (let i = 0; i < count; i++) codes[i] = codeOf[fields[i] as number] as number;
    return { kind: 'codes', codes, atom, order, ts };
  }

  #doubles({ isTimestamp, ts }: LoweredNumbers, words: number, count: number): NumberColumn {
    const { f64, u32 } = this.#memory;
    const out = this.#spans.allocate(count * 8).offset;
    threadKernels(this.#memory.id).doublesOfKeys(words, count, out);
    const values = f64.slice(out / 8, out / 8 + count);
    let nulls: Uint8Array | undefined;
    for (let i = 0; i < count; i++) {
      if (!Number.isNaN(values[i]) || u32[words / 4 + 2 * i] !== 0) continue;
      // The word of NULL is 0, that of NaN 1.
      nulls ??= new Uint8Array(count);
      nulls[i] = 1;
    }
    const result = isTimestamp ? 'timestamp' : 'number';
    return { kind: 'numbers', values, nulls, result, timed: undefined, ts };
  }
}
