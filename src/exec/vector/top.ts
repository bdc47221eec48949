// ORDER BY … LIMIT over columns: kernels keep the first rows, and only these are made.
import type { SortNode } from '../../plan/plan.ts';
import type { Compiler } from '../general/compiler.ts';
import type { ExecRow } from '../general/row.ts';
import { cutChunks, homeArena } from './chunk-range.ts';
import { DictionaryTables } from './dictionary-table.ts';
import type { VectorEngine } from './engine.ts';
import { matchFilteredScan } from './filtered-scan.ts';
import { Lowering } from './lower.ts';
import { lowerOrder } from './order-key.ts';
import { rowFunction } from './row-function.ts';
import { RowReader } from './row-reader.ts';
import { VectorTable } from './table.ts';
import { candidateSize, firstCandidates, topJob } from './top-job.ts';

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
  try {
    const lowering = new Lowering(table, tables);
    const condition = input.filter?.condition;
    const filter = condition && lowering.truth(condition);
    if (condition !== undefined && filter === undefined) return undefined;
    const words = lowerOrder(node.keys, lowering, tables);
    if (words === undefined) return undefined;
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
      words,
      keep,
    };
    const parts = engine.parallel.run(topJob, args, ranges.length);
    const size = candidateSize(words.length);
    const candidates = concat(parts);
    const first = firstCandidates(candidates, candidates.length / size, size, keep);
    const reader = new RowReader(snapshot, input.scan.columns, engine.arenas, table.ts);
    return Array.from({ length: first.length / size }, (_, i) =>
      reader.at(first[i * size] as number),
    );
  } finally {
    tables.release();
  }
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
