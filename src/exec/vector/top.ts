// ORDER BY … LIMIT over columns: kernels keep the first rows, and only these are made.
import type { SortKey } from '../../plan/expression.ts';
import type { SortNode } from '../../plan/plan.ts';
import type { Span } from '../../value/snapshot.ts';
import { spanOf } from '../../value/span-view.ts';
import type { Compiler } from '../general/compiler.ts';
import type { ExecRow } from '../general/row.ts';
import { matchFilteredScan, rowFunction } from './aggregate.ts';
import { cutChunks, homeArena } from './chunk-range.ts';
import { DictionaryTables } from './dictionary-table.ts';
import type { VectorEngine } from './engine.ts';
import { type LoweredCodes, Lowering } from './lower.ts';
import type { CodeProgram } from './program.ts';
import { RowReader } from './row-reader.ts';
import { VectorTable } from './table.ts';
import { candidateSize, firstCandidates, type SortKeyProgram, topJob } from './top-job.ts';

/** More rows than this are sorted by the general operator. */
const KEEP_MAX = 4096;
const UNIT_COUNT_MAX = 16;

/** Undefined when the general operator has to do it. */
export function vectorTop(
  node: SortNode,
  compiler: Compiler,
  engine: VectorEngine,
): ExecRow[] | undefined {
  const input = matchFilteredScan(node.input);
  const { keep } = node;
  if (input === undefined || keep === undefined || keep > KEEP_MAX || node.late) return undefined;
  if (node.ties !== 'row-hash' || node.keys.length === 0) return undefined;
  const table = VectorTable.of(compiler.runtime.catalog.dataset(input.scan.dataset));
  if (table === undefined || table.snapshot.rowCount < engine.rowCountMin) return undefined;
  const tables = new DictionaryTables(engine.arenas, (expression) =>
    rowFunction(expression, compiler),
  );
  const ranks: Span[] = [];
  try {
    const lowering = new Lowering(table, tables);
    const condition = input.filter?.condition;
    const filter = condition && lowering.truth(condition);
    if (condition !== undefined && filter === undefined) return undefined;
    const keys: SortKeyProgram[] = [];
    for (const key of node.keys) {
      const lowered = lowerKey(key, lowering, engine, ranks);
      if (lowered === undefined) return undefined;
      keys.push(lowered);
    }
    const { snapshot, columns } = table;
    const ranges = cutChunks(snapshot.chunkRowCounts.length, UNIT_COUNT_MAX);
    const args = {
      arena: homeArena(columns),
      columns,
      chunkRowCounts: snapshot.chunkRowCounts,
      ranges,
      rowCount: snapshot.rowCount,
      rowNames: snapshot.rowNames,
      filter,
      keys,
      keep,
    };
    const parts = engine.parallel.run(topJob, args, ranges.length);
    const size = candidateSize(keys.length);
    const words = concat(parts);
    const first = firstCandidates(words, words.length / size, size, keep);
    const reader = new RowReader(snapshot, input.scan.columns, engine.arenas, table.ts);
    return Array.from({ length: first.length / size }, (_, i) =>
      reader.at(first[i * size] as number),
    );
  } finally {
    tables.release();
    for (const span of ranks) engine.arenas.free(span);
  }
}

function lowerKey(
  { expression, descending }: SortKey,
  lowering: Lowering,
  engine: VectorEngine,
  spans: Span[],
): SortKeyProgram | undefined {
  const numbers = lowering.numbers(expression);
  if (numbers !== undefined) {
    return { descending, numbers: numbers.program, integer: numbers.isInteger };
  }
  const codes = lowering.codes(expression);
  return codes && { descending, ranks: rankProgram(codes, engine, spans) };
}

/** Codes replaced by the position of their atom in the order of atoms. */
function rankProgram(codes: LoweredCodes, engine: VectorEngine, spans: Span[]): CodeProgram {
  const { program } = codes;
  if (program.op === 'range') return program;
  const rankOf = new Int32Array(program.cardinality);
  codes.order().forEach((code, rank) => {
    rankOf[code] = rank;
  });
  const byColumnCode =
    program.op === 'codes'
      ? rankOf
      : Int32Array.from(
          engine.arenas
            .get(program.table.arena)
            .i32.subarray(
              program.table.offset / 4,
              (program.table.offset + program.table.sizeBytes) / 4,
            ),
          (code) => rankOf[code] as number,
        );
  const table = spanOf(engine.arenas, byColumnCode);
  spans.push(table);
  return { op: 'table-codes', column: program.column, table, cardinality: program.cardinality };
}

function concat(parts: readonly Uint32Array[]): Uint32Array {
  const out = new Uint32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}
