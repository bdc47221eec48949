// WHERE over columns: kernels find the rows, and only these are made.
import type { FilterNode } from '../../plan/plan.ts';
import type { Compiler } from '../general/compiler.ts';
import type { ExecRow } from '../general/row.ts';
import { ChunkVectors } from './chunk.ts';
import { homeArena } from './chunk-range.ts';
import type { VectorEngine } from './engine.ts';
import { matchFilteredScan } from './filtered-scan.ts';
import { Lowering } from './program/lower.ts';
import { dictionaryTables } from './program/row-function.ts';
import { RowReader } from './row-reader.ts';
import { Scratch } from './scratch.ts';
import { VectorTable } from './table.ts';

/** Undefined when the general operator has to do it. */
export function vectorFilter(
  node: FilterNode,
  compiler: Compiler,
  engine: VectorEngine,
): Iterable<ExecRow> | undefined {
  const input = matchFilteredScan(node);
  if (input === undefined) return undefined;
  const table = VectorTable.of(compiler.runtime.namespace.dataset(input.scan.dataset));
  if (table === undefined || table.snapshot.rowCount < engine.rowCountMin) return undefined;
  const tables = dictionaryTables(engine.arenas, compiler);
  const program = new Lowering(table, tables).truth(node.condition);
  if (program === undefined) {
    tables.release();
    return undefined;
  }
  const reader = new RowReader(table.snapshot, input.scan.columns, engine.arenas, table.ts);
  return (function* () {
    const scratch = new Scratch(homeArena(table.columns));
    try {
      const chunk = new ChunkVectors(scratch, table.columns);
      let start = 0;
      for (const [index, rowCount] of table.snapshot.chunkRowCounts.entries()) {
        compiler.runtime.scope.checkCancelled();
        chunk.moveTo(index, rowCount);
        for (const position of selected(chunk.truth(program), rowCount, scratch)) {
          yield reader.at(start + position);
        }
        start += rowCount;
      }
    } finally {
      scratch.release();
      tables.release();
    }
  })();
}

/** Positions of true rows, copied: the rows may be consumed after the scratch is used again. */
function selected(truth: number, rowCount: number, scratch: Scratch): Int32Array {
  const out = scratch.take(rowCount * 4);
  const count = scratch.kernels.selectTrue(truth, rowCount, out);
  return scratch.arena.i32.slice(out / 4, out / 4 + count);
}
