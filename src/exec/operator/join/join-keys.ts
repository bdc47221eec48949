// Keys of joins as codes that are the same on both sides: integers of a small range and dictionary
// codes as they are; other numbers, and several keys, by a hash table over the built side.
import type { BoundExpression } from '../../../plan/expression.ts';
import { keyOfAtom } from '../../../value/canonical-key.ts';
import { ChunkVectors } from '../../vector/chunk.ts';
import type { DictionaryTables } from '../../vector/dictionary-table.ts';
import type { LoweredCodes } from '../../vector/program/lower.ts';
import type { CodeProgram, HashedWord } from '../../vector/program/program.ts';
import { Scratch } from '../../vector/scratch.ts';
import { arenaOf } from '../build.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';

/** Codes of keys beyond this are not for tables with an entry for each. */
const KEY_CARDINALITY_MAX = 1 << 24;

/** The same for both sides of a join. */
export interface Both<T> {
  readonly probe: T;
  readonly build: T;
}

/** @throws NotSuited when the values of a key cannot be compared by kernels */
export function lowerKeys(
  keys: readonly Both<BoundExpression>[],
  sides: Both<Pipeline>,
  context: OperatorContext,
): Both<CodeProgram> {
  const codes = keys.map((key) => lowerKey(key, sides, context));
  return codes.reduce((upper, lower) =>
    hashed(
      {
        probe: { kind: 'pair', upper: upper.probe, lower: lower.probe },
        build: { kind: 'pair', upper: upper.build, lower: lower.build },
      },
      sides,
      context,
    ),
  );
}

/**
 * Codes that tell the rows of a table apart by some expressions; rows with a null may share code 0.
 * @throws NotSuited when kernels cannot compare the values of one
 */
export function lowerOwnKeys(
  expressions: readonly BoundExpression[],
  table: Pipeline,
  context: OperatorContext,
): CodeProgram {
  const keys = expressions.map((expression) => ({ probe: expression, build: expression }));
  return lowerKeys(keys, { probe: table, build: table }, context).build;
}

function lowerKey(
  key: Both<BoundExpression>,
  sides: Both<Pipeline>,
  context: OperatorContext,
): Both<CodeProgram> {
  const dense = denseKey(key, sides);
  if (dense !== undefined) return dense;
  const probe = sides.probe.lowering.numbers(key.probe);
  const build = sides.build.lowering.numbers(key.build);
  if (probe !== undefined && build !== undefined) {
    // A timestamp is equal to no number.
    if (probe.isTimestamp !== build.isTimestamp) throw new NotSuited();
    const words: Both<HashedWord> = {
      probe: { kind: 'number', numbers: probe.program },
      build: { kind: 'number', numbers: build.program },
    };
    return hashed(words, sides, context);
  }
  if (probe !== undefined || build !== undefined) throw new NotSuited();
  const ours = suited(sides.probe.lowering.codes(key.probe));
  const theirs = suited(sides.build.lowering.codes(key.build));
  if (sides.probe === sides.build) return { build: theirs.program, probe: theirs.program };
  return { build: theirs.program, probe: recode(ours, theirs, context.tables) };
}

/** Columns of integers whose range on the built side is small. */
function denseKey(
  key: Both<BoundExpression>,
  sides: Both<Pipeline>,
): Both<CodeProgram> | undefined {
  const probe = boundsOf(sides.probe, key.probe);
  const build = boundsOf(sides.build, key.build);
  if (probe === undefined || build === undefined) return undefined;
  const { least, greatest } = build;
  const cardinality = greatest - least + 2;
  const rowCount = Math.max(sides.probe.base.rowCount, sides.build.base.rowCount);
  // An entry for each value costs nothing as long as there are not many more than rows.
  if (cardinality > Math.min(KEY_CARDINALITY_MAX, rowCount * 8 + 65_536)) return undefined;
  return {
    build: { op: 'range', column: build.column, least, cardinality },
    probe: { op: 'range-within', column: probe.column, least, cardinality },
  };
}

function boundsOf({ lowering, scope }: Pipeline, key: BoundExpression) {
  const bounds = lowering.integerBounds(key);
  if (bounds === undefined || key.kind !== 'column') return undefined;
  const column = scope.find(key.path);
  return typeof column === 'number' ? { ...bounds, column } : undefined;
}

/** Codes replaced by those that the same atoms have on the other side. */
export function recode(
  ours: LoweredCodes,
  theirs: LoweredCodes,
  tables: DictionaryTables,
): CodeProgram {
  const codes = new Map<unknown, number>();
  for (let code = 1; code < theirs.program.cardinality; code++) {
    tables.look();
    codes.set(keyOfAtom(theirs.atom(code)), code);
  }
  const table = new Int32Array(ours.program.cardinality);
  for (let code = 1; code < table.length; code++) {
    tables.look();
    table[code] = codes.get(keyOfAtom(ours.atom(code))) ?? 0;
  }
  return tables.mapCodes(ours.program, table, theirs.program.cardinality);
}

const ENTRY_SIZE = 16;

/** Numbers for the words of the built side, by a hash table of which half stays free. */
function hashed(
  words: Both<HashedWord>,
  { probe, build }: Both<Pipeline>,
  { engine, memory, compiler }: OperatorContext,
): Both<CodeProgram> {
  const { rowCount, chunkRowCounts } = build.base;
  const size = 1 << Math.max(4, Math.ceil(Math.log2(rowCount * 2 + 1)));
  const arena = arenaOf(probe);
  const table = memory.holdSpan(engine.arenas.allocateIn(arena, size * ENTRY_SIZE));
  engine.arenas.get(arena).u8.fill(0, table.offset, table.offset + size * ENTRY_SIZE);
  const mask = size - 1;
  const isPair = words.build.kind === 'pair' ? 1 : 0;
  const scratch = new Scratch(arena);
  let used = 0;
  try {
    const chunk = new ChunkVectors(scratch, build.scope.columns);
    chunkRowCounts.forEach((count, index) => {
      compiler.runtime.scope.checkCancelled();
      chunk.moveTo(index, count);
      const { kernels } = scratch;
      used = kernels.enterWords(chunk.words(words.build), count, isPair, table.offset, mask, used);
    });
  } finally {
    scratch.release();
  }
  const program = { op: 'hashed', table, mask, cardinality: used + 1 } as const;
  return {
    probe: { ...program, word: words.probe },
    build: { ...program, word: words.build },
  };
}
