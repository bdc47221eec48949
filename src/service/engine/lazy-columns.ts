// Content of which columns are still in the file: each is read when somebody first looks at it.
import type { DatasetContent } from '../../dataset/dataset-type.ts';
import type { ColumnarSnapshot, ColumnSnapshot } from '../../value/column/snapshot.ts';

/**
 * The snapshot with its absent columns made readable.
 * @param read gives a column by its number; called once for each, at the first look at its values
 */
export function withLazyColumns(
  snapshot: ColumnarSnapshot,
  read: (column: number) => ColumnSnapshot,
): ColumnarSnapshot {
  return {
    ...snapshot,
    columns: snapshot.columns.map((column, number) =>
      column.isAbsent === true ? lazyColumn(column, () => read(number)) : column,
    ),
  };
}

/** Own accessors, so that a column which is posted to another thread arrives with its values. */
function lazyColumn(
  { path, type, nullCount }: ColumnSnapshot,
  read: () => ColumnSnapshot,
): ColumnSnapshot {
  let column: ColumnSnapshot | undefined;
  const present = () => {
    column ??= read();
    return column;
  };
  return {
    ...{ path, type, nullCount },
    get chunks() {
      return present().chunks;
    },
    get dictionary() {
      return present().dictionary;
    },
    get isPaged() {
      return present().isPaged;
    },
  } as ColumnSnapshot;
}

/** Whether nobody has looked at the values of some columns. */
export function hasAbsentColumns({ snapshot }: DatasetContent): boolean {
  return (
    snapshot.layout === 'columnar' && snapshot.columns.some(({ isAbsent }) => isAbsent === true)
  );
}

/** Whether all values are in memory. */
export function isWhole(content: DatasetContent): boolean {
  const { snapshot } = content;
  if (hasAbsentColumns(content)) return false;
  return (
    snapshot.layout !== 'columnar' || !snapshot.columns.some(({ isPaged }) => isPaged === true)
  );
}
