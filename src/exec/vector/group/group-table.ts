// The groups of a query as columns: rows are made only for operators that want rows.
import type { BoundExpression, NamedProjectItem } from '../../../plan/expression.ts';
import { comparePaths, Path } from '../../../value/path.ts';
import type { Value } from '../../../value/value.ts';
import { ColumnRows, type RowColumn } from '../../column-rows.ts';
import type { SliceableRows } from '../../general/operator/source.ts';
import { GroupRow } from '../../general/row.ts';
import {
  detachColumn,
  type GroupColumn,
  isOfAtoms,
  sliceOfGroups,
  tsOfGroup,
  valueOfGroup,
  valuesOfGroups,
} from './group-column.ts';

export class GroupTable implements SliceableRows {
  readonly rowCount: number;
  readonly keys: readonly GroupColumn[];
  readonly aggregates: readonly GroupColumn[];

  constructor(rowCount: number, keys: readonly GroupColumn[], aggregates: readonly GroupColumn[]) {
    this.rowCount = rowCount;
    this.keys = keys;
    this.aggregates = aggregates;
  }

  *[Symbol.iterator](): Iterator<GroupRow> {
    for (let index = 0; index < this.rowCount; index++) yield this.at(index);
  }

  at(index: number): GroupRow {
    return new GroupRow(valuesAt(this.keys, index), valuesAt(this.aggregates, index));
  }

  slice(from: number, to: number): GroupTable {
    const part = (column: GroupColumn) => sliceOfGroups(column, from, to);
    return new GroupTable(to - from, this.keys.map(part), this.aggregates.map(part));
  }

  /** The same groups, whose values lie nowhere else. */
  detached(): GroupTable {
    return new GroupTable(
      this.rowCount,
      this.keys.map(detachColumn),
      this.aggregates.map(detachColumn),
    );
  }

  /** The rows of a select list; undefined when an item is more than a key or an aggregate of atoms. */
  project(items: readonly NamedProjectItem[]): ColumnRows | undefined {
    const columns: RowColumn[] = [];
    for (const { path, expression } of items) {
      const column = this.#column(expression);
      if (column === undefined || !isOfAtoms(column)) return undefined;
      columns.push({
        path: new Path(path),
        values: valuesOfGroups(column),
        tsAt: (index) => tsOfGroup(column, index),
      });
    }
    columns.sort((a, b) => comparePaths(a.path, b.path));
    return new ColumnRows(this.rowCount, columns, (index) => this.#nameAt(index));
  }

  #nameAt(index: number) {
    return new GroupRow(valuesAt(this.keys, index), []).name;
  }

  #column(expression: BoundExpression): GroupColumn | undefined {
    if (expression.kind === 'group-key') return this.keys[expression.index];
    if (expression.kind === 'aggregate-result') return this.aggregates[expression.index];
    return undefined;
  }
}

function valuesAt(columns: readonly GroupColumn[], index: number): Value[] {
  return columns.map((column) => valueOfGroup(column, index));
}
