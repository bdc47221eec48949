// What a query can name: datasets and functions. Implemented by `dataset` and `service`.

import type { Atom } from '../value/atom.ts';
import type { FrequentValues } from '../value/column/frequent-values.ts';
import type { Snapshot } from '../value/column/snapshot.ts';
import type { Path } from '../value/path.ts';
import type { Cell, Row, Scalar } from '../value/value.ts';
import type { BoundExpression } from './expression.ts';
import type { FunctionNamespace, UserFunction } from './function.ts';
import type { NeededColumns } from './needed-columns.ts';
import type { AskNode, PlanNode, SentKeys } from './plan.ts';
import type { ValueType } from './type/type.ts';

export interface RelationRow {
  readonly name: Path;
  readonly row: Row;
}

export interface RelationColumn {
  readonly path: Path;
  /** rows that have the column, explicit nulls included */
  readonly rowCount: number;
}

/** Rows that a query reads: a dataset, or the result of a part of the query. */
export interface Relation {
  readonly rowCount: number;
  /** flattened columns, in natural order */
  columns(): readonly RelationColumn[];
  columnCount(): number;
  /**
   * Rows in stored order; a row has at least the needed columns it has values for.
   * @param prefilter parts of a condition that all rows which are wanted fulfil; relations without
   *   `remote` need not look at it
   */
  scan(needed: NeededColumns, prefilter?: readonly BoundExpression[]): Iterable<RelationRow>;
  /** one row by its path; every row of that name where names repeat */
  findRows(name: Path, needed: NeededColumns): readonly RelationRow[];
  rowNames(): Iterable<Path>;
  /**
   * The points of one column in the order of rows, each under the path of its row.
   * @param check called now and then while the first column is looked for; so below
   */
  columnCells?(column: Path, check: () => void): Iterable<ColumnCell>;
  /** whether there are columns below the path, so that reading it may give a row */
  hasColumnsBelow?(column: Path): boolean;
  /** the transposition: a row for each column, in natural order, made when it is looked at */
  transposedRows?(check: () => void): Iterable<RelationRow>;
  /** Columns in natural order; undefined when one is nested, or a cell has several points. */
  flatColumns?(check: () => void): Iterable<FlatColumn> | undefined;
  /** the values that most rows have in a column; absent: nobody knows */
  frequentValues?(column: readonly string[]): FrequentValues | undefined;
  /** the columnar or sparse memory behind it, when the vector engine can read it directly */
  readonly snapshot?: Snapshot;
  /** present where the rows are in another system, which can leave out some of them */
  readonly remote?: RemoteFacet;
}

/** What planning may know of rows in another system. */
export interface RemoteFacet {
  /** whether `columns` tells without reading the rows */
  readonly listsColumns: boolean;
  /** the types of columns that always have one; open */
  rowType(): ValueType;
  /** what the other system is asked for a scan, in its own language */
  describe(needed: NeededColumns, prefilter: readonly BoundExpression[]): string;
  /** present where the other system can take over more of a plan than a prefilter */
  readonly pushing?: RemotePushing;
}

/** Distinct tuples of values that are not null. */
export type KeyTuples = readonly (readonly Atom[])[];

export interface PushContext {
  readonly namespace: Namespace;
  /** false: nobody looks at the timestamps of the result, and nothing computes with them */
  readonly exactTimestamps: boolean;
}

/** How parts of plans are handed to another system. */
export interface RemotePushing {
  /** `asked` of an AskNode that asks for the rows as they are */
  readonly start: unknown;
  /** more rows are not sent in one answer */
  readonly rowCountMax: number;
  /** `asked` for about this share of the rows: the same ones for the same seed */
  sample(share: number, seed: number): unknown;
  /**
   * The same rows from a plan in which the other system does more, for a node with an AskNode
   * below; undefined: the node stays as it is.
   */
  push(node: PlanNode, context: PushContext): PlanNode | undefined;
  /**
   * A side of a join whose rows are only those with keys of the other side; undefined: it cannot
   * be told there. Absent: the system takes no keys.
   */
  withKeys?(
    node: PlanNode,
    keys: readonly BoundExpression[],
    sent: SentKeys,
    namespace: Namespace,
  ): PlanNode | undefined;
  /** @param keys for each of the node's `keys` what rows may have; undefined: too many to tell */
  rows(ask: AskNode, keys: readonly (KeyTuples | undefined)[]): Iterable<RelationRow>;
  /** in the language of the other system */
  describe(ask: AskNode): string;
}

/** A column whose cells are read in the order of rows. */
export interface FlatColumn {
  readonly name: string;
  /** how many cells are not null */
  readonly valueCount: number;
  /** the latest timestamp of these; without any, minus infinity */
  readonly latestTs: number;
  visitCells(visit: (cell: Scalar) => void): void;
}

/** A point of one column: `path` names its row, `position` is the row's place in stored order. */
export interface ColumnCell extends Cell {
  readonly position: number;
}

export interface Namespace {
  /** @throws ENTITY_NOT_FOUND (404) or ENTITY_NOT_READY (409) */
  dataset(name: string): Relation;
  /** names of all datasets that the caller may read; absent: they cannot be listed here */
  datasetNames?(): readonly string[];
  findUserFunction(name: string): UserFunction | undefined;
  readonly builtins: FunctionNamespace;
}
