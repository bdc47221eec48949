// Rows on their way through operators that pass them on batch by batch: a table, looked up in others
// and filtered. Select lists cost nothing here: what is above reads their expressions.
import { OPAQUE_KINDS } from '../../physical/capability.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import { atomType } from '../../plan/type/type.ts';
import { assert } from '../../util/assert.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { NULL_VALUE } from '../../value/value.ts';
import type { ExecRow } from '../general/row.ts';
import type { DictionaryTables } from '../vector/dictionary-table.ts';
import { Lowering } from '../vector/program/lower.ts';
import type { CodeProgram, TruthProgram } from '../vector/program/program.ts';
import type { BatchTable } from './table/batch-table.ts';

/** How the expressions above a pipeline read it. */
export interface Outputs {
  /** What a column means; undefined when it is not one expression of atoms. */
  column(path: readonly string[]): BoundExpression | 'absent' | undefined;
  groupKey?(index: number): BoundExpression | undefined;
  aggregateResult?(index: number): BoundExpression | undefined;
  windowResult?(index: number): BoundExpression | undefined;
  grouping?(index: number): BoundExpression | undefined;
  /** all columns by their paths; undefined when they are not known */
  list(): readonly Output[] | undefined;
}

export interface Output {
  readonly path: readonly string[];
  readonly expression: BoundExpression;
  /**
   * Which rows have the column: absent: all, and its value may be null; `valued`: those with a value;
   * `mixed`: those with a value, and some others
   */
  readonly presence?: 'valued' | 'mixed' | undefined;
}

/** A built table that rows are looked up in. */
export interface Build {
  readonly table: BatchTable;
  /** rows of the table that can be found */
  readonly filter: TruthProgram | undefined;
  /** undefined: each row goes with every row of the table */
  readonly key: CodeProgram | undefined;
  readonly probe: {
    readonly key: CodeProgram | undefined;
    readonly filter: TruthProgram | undefined;
  };
  /** rows without a match stay, without values of the table */
  readonly keepsProbe: boolean;
  /** of what it was put into, once it was built */
  sizeBytes?: number | undefined;
}

/** Rows of a pipeline, before more is done to them. */
export interface Stage {
  readonly base: BatchTable;
  readonly scope: PipelineTable;
  readonly builds: readonly Build[];
  readonly filter: TruthProgram | undefined;
}

/**
 * What a row is called, given the numbers of the rows that it was made of: a row without columns,
 * and for joined rows those of their sides.
 */
export type RowNamer = (rowOf: (table: number) => number | undefined) => ExecRow;

export class Pipeline {
  readonly base: BatchTable;
  readonly scope: PipelineTable;
  readonly lowering: Lowering;
  readonly builds: Build[] = [];
  /** rows that are left; it was lowered over `scope` */
  filter: TruthProgram | undefined;
  outputs: Outputs;
  namer: RowNamer;

  constructor(base: BatchTable, outputs: Outputs, namer: RowNamer, tables: DictionaryTables) {
    this.base = base;
    this.outputs = outputs;
    this.namer = namer;
    this.scope = new PipelineTable(base);
    this.lowering = new Lowering(this.scope, tables);
  }

  /** Whether its rows are those of the table as they lie, but for the filter. */
  get isPlain(): boolean {
    return this.builds.length === 0;
  }

  addFilter(truth: TruthProgram): void {
    this.filter = both(this.filter, truth);
  }

  /** An expression about the rows of the pipeline, about the columns of its tables. */
  resolve(expression: BoundExpression): BoundExpression | undefined {
    return resolveExpression(expression, this.outputs);
  }

  /** Looks rows up; the filter so far decides which. @returns the number of the table */
  addBuild(build: Omit<Build, 'probe'>, key: CodeProgram | undefined): number {
    this.builds.push({ ...build, probe: { key, filter: this.filter } });
    this.filter = undefined;
    return this.scope.addTable(build.table, build.keepsProbe);
  }
}

export function both(a: TruthProgram | undefined, b: TruthProgram): TruthProgram {
  if (a === undefined) return b;
  return { op: 'and', operands: a.op === 'and' ? [...a.operands, b] : [a, b] };
}

/** The columns of all tables of a pipeline; the number of a table is the first element. */
export class PipelineTable implements BatchTable {
  readonly columns: ColumnSnapshot[] = [];
  readonly #tables: { readonly table: BatchTable; readonly isOptional: boolean }[] = [];
  readonly #places: { readonly table: number; readonly column: number }[] = [];

  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];

  constructor(base: BatchTable) {
    this.rowCount = base.rowCount;
    this.chunkRowCounts = base.chunkRowCounts;
    this.addTable(base, false);
  }

  addTable(table: BatchTable, isOptional: boolean): number {
    return this.#tables.push({ table, isOptional }) - 1;
  }

  find([table = '', ...path]: readonly string[]): number | 'absent' | undefined {
    const number = Number(table);
    const column = this.#table(number).table.find(path);
    return typeof column === 'number' ? this.#number(number, column) : column;
  }

  pathOf(column: number): readonly string[] {
    const place = this.placeOf(column);
    return [String(place.table), ...this.#table(place.table).table.pathOf(place.column)];
  }

  tsOf(column: number): number {
    const place = this.placeOf(column);
    return this.#table(place.table).table.tsOf(place.column);
  }

  timedOf(column: number): true | number {
    const place = this.placeOf(column);
    const timed = this.#table(place.table).table.timedOf(place.column);
    return timed === true ? true : this.#number(place.table, timed);
  }

  hasNulls(column: number): boolean {
    const place = this.placeOf(column);
    const { table, isOptional } = this.#table(place.table);
    return isOptional || table.hasNulls(place.column);
  }

  placeOf(column: number): { readonly table: number; readonly column: number } {
    const place = this.#places[column];
    assert(place !== undefined, `no column ${column}`);
    return place;
  }

  #number(table: number, column: number): number {
    const known = this.#places.findIndex(
      (place) => place.table === table && place.column === column,
    );
    if (known !== -1) return known;
    this.columns.push(this.#table(table).table.columns[column] as ColumnSnapshot);
    return this.#places.push({ table, column }) - 1;
  }

  #table(number: number) {
    const table = this.#tables[number];
    assert(table !== undefined, `no table ${number}`);
    return table;
  }
}

/** Undefined when the expression needs more than single columns. */
export function resolveExpression(
  expression: BoundExpression,
  outputs: Outputs,
): BoundExpression | undefined {
  let possible = true;
  const replace = (part: BoundExpression): BoundExpression => {
    if (!possible) return part;
    const meaning = meaningOf(part, outputs);
    if (meaning === undefined) possible = false;
    return meaning ?? part;
  };
  const resolved = mapExpression(expression, replace);
  return possible ? resolved : undefined;
}

function meaningOf(part: BoundExpression, outputs: Outputs): BoundExpression | undefined {
  if (OPAQUE_KINDS.has(part.kind)) return undefined;
  switch (part.kind) {
    case 'column': {
      const meaning = outputs.column(part.path);
      return meaning === 'absent' ? nullExpression(part) : meaning;
    }
    case 'group-key':
      return outputs.groupKey?.(part.index);
    case 'aggregate-result':
      return outputs.aggregateResult?.(part.index);
    case 'window-result':
      return outputs.windowResult?.(part.index);
    case 'grouping':
      return outputs.grouping?.(part.index);
    default:
      return part;
  }
}

function nullExpression({ start, end }: BoundExpression): BoundExpression {
  return { kind: 'constant', value: NULL_VALUE, type: atomType('null'), start, end };
}
