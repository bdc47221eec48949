// Training data straight from columns: a query that only picks columns of a columnar dataset needs
// no rows at all.

import type { BoundExpression, ProjectItem } from '../../plan/expression.ts';
import type { CallContext } from '../../plan/function.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { FilterNode, PlanNode, ProjectNode, QueryPlan, ScanNode } from '../../plan/plan.ts';
import { ANY_TYPE } from '../../plan/type/type.ts';
import type { Atom } from '../../value/atom.ts';
import type { ColumnarSnapshot, ColumnSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import { cellsOf, Row, RowBuilder, Scalar } from '../../value/value.ts';
import { makeCompiler } from '../general/plan.ts';
import { makeRuntime } from '../general/runtime.ts';
import { ChunkVectors } from './chunk.ts';
import { homeArena } from './chunk-range.ts';
import type { VectorEngine } from './engine.ts';
import { type LoweredCodes, Lowering } from './program/lower.ts';
import type { TruthProgram } from './program/program.ts';
import { dictionaryTables, rowFunction } from './program/row-function.ts';
import { Scratch } from './scratch.ts';
import { VectorTable } from './table.ts';

export type ScalarForm = 'truth' | 'numbers' | 'codes';

export interface ExtractedFeature {
  /** the name below the row of features */
  readonly path: Path;
  /** the column of the dataset that it is */
  readonly column: ColumnSnapshot;
}

/** One scalar output for each row of the table, selected or not. */
export type ExtractedScalar =
  /** 0 false, 1 null, 2 true */
  | { readonly form: 'truth'; readonly values: Uint8Array }
  /** NaN where there is no value */
  | { readonly form: 'numbers'; readonly values: Float64Array }
  | { readonly form: 'codes'; readonly values: Int32Array; atom(code: number): Atom };

export interface ExtractedColumns {
  readonly snapshot: ColumnarSnapshot;
  readonly features: readonly ExtractedFeature[];
  readonly scalars: Readonly<Record<string, ExtractedScalar>>;
  /** numbers of the rows that pass the filter, ascending; absent: all */
  readonly selection: Int32Array | undefined;
}

export interface ExtractOptions {
  /** the output that is a row of features; absent: all outputs are features */
  readonly row?: string;
  /** forms of the other outputs; one that the query does not name is left out */
  readonly scalars: Readonly<Record<string, ScalarForm>>;
  readonly namespace: Namespace;
  readonly scope: CallContext;
  readonly engine: VectorEngine;
}

/**
 * Undefined when the query does anything but picking plain columns and simple conditions of one
 * columnar dataset, in stored order.
 */
export function extractColumns(
  plan: QueryPlan,
  options: ExtractOptions,
): ExtractedColumns | undefined {
  const project = projectOf(plan.root);
  const input = project && storedInput(project.input);
  if (project === undefined || input === undefined || plan.subqueries.length > 0) return undefined;
  const table = VectorTable.of(options.namespace.dataset(input.scan.dataset));
  if (table === undefined) return undefined;
  const compiler = makeCompiler(makeRuntime([], options), () => []);
  const tables = dictionaryTables(options.engine.arenas, compiler);
  try {
    const lowering = new Lowering(table, tables);
    const condition = input.filter?.condition;
    const filter = condition && lowering.truth(condition);
    if (condition !== undefined && filter === undefined) return undefined;
    const row =
      options.row === undefined ? outputRow(project) : itemNamed(project.items, options.row);
    const features =
      row && featuresOf(row, table.snapshot, (expression) => rowFunction(expression, compiler));
    if (features === undefined) return undefined;
    const reads: ScalarRead[] = [];
    for (const [name, form] of Object.entries(options.scalars)) {
      const expression = itemNamed(project.items, name);
      if (expression === undefined) continue;
      const read = lowerScalar(name, form, expression, lowering, table.snapshot.rowCount);
      if (read === undefined) return undefined;
      reads.push(read);
    }
    const selection = readChunks(table, reads, filter, options.scope);
    const scalars = Object.fromEntries(reads.map(({ name, output }) => [name, output]));
    return { snapshot: table.snapshot, features, scalars, selection };
  } finally {
    tables.release();
  }
}

function projectOf(root: PlanNode): ProjectNode | undefined {
  return root.kind === 'project' ? root : undefined;
}

/** A scan with the filter above it. */
function storedInput(
  node: PlanNode,
): { readonly scan: ScanNode; readonly filter: FilterNode | undefined } | undefined {
  const filter = node.kind === 'filter' ? node : undefined;
  const scan = filter?.input ?? node;
  return scan.kind === 'scan' && scan.lookup === undefined ? { scan, filter } : undefined;
}

/** All outputs as one row. */
function outputRow({ items }: ProjectNode): BoundExpression {
  return { kind: 'row', items, type: ANY_TYPE, start: 0, end: 0 };
}

function itemNamed(items: readonly ProjectItem[], name: string): BoundExpression | undefined {
  for (const item of items) {
    if (item.kind === 'named' && item.path.length === 1 && item.path[0] === name) {
      return item.expression;
    }
  }
  return undefined;
}

/**
 * The columns that a row of features consists of. The row is evaluated once over numbered columns:
 * what comes out under which name tells the rest.
 */
function featuresOf(
  expression: BoundExpression,
  snapshot: ColumnarSnapshot,
  compile: (expression: BoundExpression) => (row: Row) => unknown,
): ExtractedFeature[] | undefined {
  if (expression.kind !== 'row' || !expression.items.every(isPlainItem)) return undefined;
  const builder = new RowBuilder();
  snapshot.columns.forEach((column, index) => {
    builder.addPath(new Path(column.path), new Scalar(index, 0));
  });
  const value = compile(expression)(builder.build());
  if (!(value instanceof Row)) return undefined;
  const features: ExtractedFeature[] = [];
  const seen = new Set<string>();
  for (const { path, atom } of cellsOf(value)) {
    // A null is a column that the dataset lacks; a name that occurs twice is a fault that rows show.
    if (atom === null) continue;
    if (typeof atom !== 'number' || seen.has(path.toString())) return undefined;
    seen.add(path.toString());
    features.push({ path, column: snapshot.columns[atom] as ColumnSnapshot });
  }
  return features;
}

function isPlainItem(item: ProjectItem): boolean {
  return item.kind === 'wildcard' || (item.kind === 'named' && item.expression.kind === 'column');
}

interface ScalarRead {
  readonly name: string;
  readonly output: ExtractedScalar;
  /** reads the chunk whose first row has the number `start` */
  read(chunk: ChunkVectors, scratch: Scratch, start: number): void;
}

function lowerScalar(
  name: string,
  form: ScalarForm,
  expression: BoundExpression,
  lowering: Lowering,
  rowCount: number,
): ScalarRead | undefined {
  switch (form) {
    case 'truth': {
      const program = lowering.truth(expression);
      return program && readTruth(name, program, rowCount);
    }
    case 'numbers': {
      const numbers = lowering.numbers(expression);
      if (numbers === undefined || numbers.isTimestamp) return undefined;
      const values = new Float64Array(rowCount);
      return {
        name,
        output: { form, values },
        read(chunk, { arena }, start) {
          const { data, valid } = chunk.doubles(numbers.program);
          values.set(arena.f64.subarray(data / 8, data / 8 + chunk.rowCount), start);
          if (valid === 0) return;
          for (let i = 0; i < chunk.rowCount; i++) {
            if (arena.u8[valid + i] === 0) values[start + i] = Number.NaN;
          }
        },
      };
    }
    case 'codes': {
      const codes = lowering.codes(expression);
      return codes && readCodes(name, codes, rowCount);
    }
  }
}

function readTruth(name: string, program: TruthProgram, rowCount: number): ScalarRead {
  const values = new Uint8Array(rowCount);
  return {
    name,
    output: { form: 'truth', values },
    read(chunk, { arena }, start) {
      const truth = chunk.truth(program);
      values.set(arena.u8.subarray(truth, truth + chunk.rowCount), start);
    },
  };
}

function readCodes(name: string, codes: LoweredCodes, rowCount: number): ScalarRead {
  const values = new Int32Array(rowCount);
  return {
    name,
    output: { form: 'codes', values, atom: (code) => codes.atom(code) },
    read(chunk, { arena }, start) {
      const address = chunk.codes(codes.program);
      values.set(arena.i32.subarray(address / 4, address / 4 + chunk.rowCount), start);
    },
  };
}

/** Runs all programs chunk by chunk. @returns the rows that pass the filter */
function readChunks(
  table: VectorTable,
  reads: readonly ScalarRead[],
  filter: TruthProgram | undefined,
  scope: CallContext,
): Int32Array | undefined {
  const { chunkRowCounts, rowCount } = table.snapshot;
  const selection = filter === undefined ? undefined : new Int32Array(rowCount);
  let selectedCount = 0;
  const scratch = new Scratch(homeArena(table.columns));
  try {
    const chunk = new ChunkVectors(scratch, table.columns);
    let start = 0;
    for (const [index, count] of chunkRowCounts.entries()) {
      scope.checkCancelled();
      chunk.moveTo(index, count);
      for (const each of reads) each.read(chunk, scratch, start);
      if (filter !== undefined && selection !== undefined) {
        const { u8 } = scratch.arena;
        const truth = chunk.truth(filter);
        for (let i = 0; i < count; i++)
          if (u8[truth + i] === 2) selection[selectedCount++] = start + i;
      }
      start += count;
    }
  } finally {
    scratch.release();
  }
  return selection?.subarray(0, selectedCount);
}
