// GROUP BY of more rows than memory has room for: parts of the order of the keys go to a scratch file, and
// are grouped one after the other. Groups come in the order of their keys.

import { isDistinct, isKernelAggregate } from '../../../physical/capability.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall, AggregateNode } from '../../../plan/plan.ts';
import { ScratchWriter } from '../../../store/scratch-file.ts';
import { ColumnView } from '../../../value/column/column-view.ts';
import type { ColumnSnapshot, DictionarySnapshot } from '../../../value/column/snapshot.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { Scalar } from '../../../value/value.ts';
import { GroupRow, namedRow } from '../../general/row.ts';
import type { ScratchRoom } from '../../vector/engine.ts';
import { unitCountFor } from '../../vector/group/aggregate.ts';
import { cellCountOf } from '../../vector/group/dense-keys.ts';
import type { GroupTable } from '../../vector/group/group-table.ts';
import { lowerOrder } from '../../vector/order/order-key.ts';
import type { Grouping } from '../group/accumulate.ts';
import { groupCalls, resolveCalls } from '../group/aggregate.ts';
import { encodeColumn } from '../group/group-pipeline.ts';
import { nameExpressions } from '../group/stored-calls.ts';
import { type OperatorContext, TableForm } from '../materialize.ts';
import { suited } from '../not-suited.ts';
import { aggregateName, groupOutputs, keyName } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { RunMemory } from '../run-memory.ts';
import { chunksOf, type MadeColumn } from '../table/batch-table.ts';
import { concatenate, type Part } from '../table/concatenate.ts';
import { encodeCodeColumn } from '../table/encode-column.ts';
import { Parts } from './parts.ts';
import { roomInScratch } from './room.ts';
import { ChunkMover, scratchPart } from './scratch-table.ts';

/** Bytes that numbering a row takes: words, pairs, and a cell in the worst case. */
const ROW_SIZE = 48;
const CELL_SIZE = 16;
const CHUNK_ROW_COUNT = 65_536;

/** Rows that are to be put into groups. */
export interface RowsToGroup {
  readonly node: AggregateNode;
  readonly pipeline: Pipeline;
}

/** Where rows go that are too many to be grouped in memory; undefined: they have room. */
export function roomForGroups(
  node: AggregateNode,
  pipeline: Pipeline,
  { engine }: OperatorContext,
): ScratchRoom | undefined {
  const room = roomInScratch(pipeline.base.rowCount * ROW_SIZE, engine);
  if (room === undefined || node.keys.length === 0) return undefined;
  const codes = node.keys.map((key) => {
    const resolved = pipeline.resolve(key);
    return resolved && pipeline.lowering.codes(resolved);
  });
  if (codes.includes(undefined)) return room;
  const cellCount = cellCountOf(codes.map(suited));
  const cellSize = CELL_SIZE * (node.aggregates.length + 1) * unitCountFor(cellCount);
  return roomInScratch(cellCount * cellSize, engine);
}

interface GroupedPartsOptions {
  /** only so many first groups are read */
  readonly first: number | undefined;
  /** whether distinct values are grouped before they are counted */
  readonly isTwice: boolean;
}

/** Undefined when memory has room for the rows. @throws NotSuited, DISK_FULL */
export function groupedParts(
  { node, pipeline }: RowsToGroup,
  { first = Number.POSITIVE_INFINITY, isTwice }: GroupedPartsOptions,
  context: OperatorContext,
): Pipeline | undefined {
  const room = roomForGroups(node, pipeline, context);
  if (room === undefined) return undefined;
  context.memory.isLasting = true;
  const { engine, tables } = context;
  const keys = node.keys.map((key) => suited(pipeline.resolve(key)));
  const words = suited(
    lowerOrder(
      keys.map((expression) => ({ expression, descending: false })),
      pipeline.lowering,
      tables,
    ),
  );
  const aggregates = resolveCalls(node.aggregates, pipeline, context);
  const { outputs, ...named } = nameExpressions({ keys, aggregates });
  const grouping = { ...named, explicit: node.explicit, isOrdered: true };
  const form = new TableForm(pipeline, outputs, context, false);
  const options = { room, form, words: words.map((word) => ({ kind: 'order', word }) as const) };
  const parts = new Parts(pipeline, { ...options, keepsWords: false }, context);
  const writer = new ScratchWriter(room.file());
  const made: Part[] = [];
  let rowCount = 0;
  try {
    const mover = new ChunkMover(room.file(), writer, engine.arenas);
    for (let part = 0; part < parts.rowCounts.length && rowCount < first; part++) {
      if (parts.rowCounts[part] === 0) continue;
      const rows = new RunMemory(engine.arenas);
      const groups = new RunMemory(engine.arenas, context.memory);
      try {
        const loaded = parts.load(part, { ...context, memory: rows });
        const found = groupCalls(grouping, loaded.pipeline, { ...context, memory: rows }, isTwice);
        const columns = groupColumns(found, loaded.pipeline, grouping, {
          ...{ ...context, memory: groups },
        });
        for (const [name, column] of columns) columns.set(name, mover.column(column));
        const chunkRowCounts = chunksOf(found.rowCount, CHUNK_ROW_COUNT);
        made.push(scratchPart(chunkRowCounts, columns, tables));
        rowCount += found.rowCount;
      } finally {
        rows.release();
        groups.release();
      }
    }
  } finally {
    writer.close();
  }
  const all = concatenate(made, context, { named: false });
  const nameAt = groupNames(node, all, context);
  return new Pipeline(
    all.base,
    groupOutputs(node),
    (rowOf) => namedRow(nameAt(rowOf(0) as number)),
    tables,
  );
}

/** Whether the codes of keys are those of the rows: other aggregates make tables in between. */
function keepsCodes(aggregates: readonly AggregateCall[]): boolean {
  return aggregates.every((call) => isKernelAggregate(call) && !isDistinct(call));
}

/** The columns of groups; keys keep the dictionaries of the rows where they can. */
function groupColumns(
  groups: GroupTable,
  rows: Pipeline,
  { keys, aggregates }: Pick<Grouping, 'keys' | 'aggregates'>,
  context: OperatorContext,
): Map<string, MadeColumn> {
  const counts = chunksOf(groups.rowCount, CHUNK_ROW_COUNT);
  const columns = new Map<string, MadeColumn>();
  groups.keys.forEach((column, index) => {
    const name = keyName(index);
    const key = keys[index] as BoundExpression;
    const dictionary = keepsCodes(aggregates) ? dictionaryOf(key, rows) : undefined;
    if (column.kind === 'codes' && dictionary !== undefined) {
      const codes = Uint32Array.from(column.codes);
      const snapshot = encodeCodeColumn([name], codes, dictionary, counts, context.memory);
      columns.set(name, { snapshot, ts: column.ts });
    } else columns.set(name, suited(encodeColumn(name, column, counts, context)));
  });
  groups.aggregates.forEach((column, index) => {
    const name = aggregateName(index);
    columns.set(name, suited(encodeColumn(name, column, counts, context)));
  });
  return columns;
}

function dictionaryOf(key: BoundExpression, { base }: Pipeline): DictionarySnapshot | undefined {
  const column = key.kind === 'column' ? base.find(key.path.slice(1)) : undefined;
  return typeof column === 'number' ? base.columns[column]?.dictionary : undefined;
}

function groupNames(node: AggregateNode, { base }: Pipeline, { engine }: OperatorContext) {
  let views: readonly (readonly [ColumnView, number])[] | undefined;
  const outputs = groupOutputs(node);
  return (row: number) => {
    views ??= node.keys.map((_, index) => {
      const key = outputs.groupKey?.(index);
      const path = key?.kind === 'column' ? key.path.slice(1) : [];
      const column = base.find(path) as number;
      const view = new ColumnView(base.columns[column] as ColumnSnapshot, engine.arenas);
      return [view, base.tsOf(column)];
    });
    const scalars = views.map(([view, ts]) => {
      const atom = view.atomAt(row);
      return new Scalar(atom, atom === null ? MINUS_INFINITY : ts);
    });
    return new GroupRow(scalars, []).name;
  };
}
