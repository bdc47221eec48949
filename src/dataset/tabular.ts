import { type Static, Type } from 'typebox';
import { choice, url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import { rowNamesView } from '../value/column/row-names.ts';
import type { Snapshot } from '../value/column/snapshot.ts';
import { freeSnapshot } from '../value/column/snapshot-memory.ts';
import { comparePaths, Path } from '../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../value/timestamp.ts';
import { columnarStatus, openColumnarWriter } from './columnar-writer.ts';
import {
  type Admission,
  type ContentWriter,
  datasetType,
  type WriterContext,
} from './dataset-type.ts';
import type { RecordedCell, RecordedRow } from './recorded-row.ts';

/** The columns of the first recorded row; null before it. Elements of each path. */
type TabularState = readonly (readonly string[])[] | null;

const PARAMETERS = Type.Object({
  unknownColumns: choice(['error', 'ignore', 'add'], {
    description: 'what to do with a column that the first row did not have',
    default: 'error',
  }),
  dataFileUrl: Type.Optional(
    url({
      description:
        'file to load, as POST …/routes/saves writes it; when there is none yet, each commit writes it',
    }),
  ),
});

type TabularParams = Static<typeof PARAMETERS>;

/** Many rows with mostly the same columns, stored by column; one timestamp a row. */
export const tabular = datasetType({
  name: 'tabular',
  summary: 'Many rows with the same columns, stored by column; the first row fixes the columns.',
  parameters: PARAMETERS,
  recording: {
    visibility: () => 'commit',
    mayRefuseAtCommit: true,
    initialState: null,
    admit: admitRows,
    openWriter: openUniqueWriter,
  },
  file: {
    url: (params) => params.dataFileUrl,
    loadedAs: 'tabular',
    stateOf: (snapshot) =>
      snapshot.layout === 'columnar' ? snapshot.columns.map(({ path }) => path) : null,
  },
  status: columnarStatus,
});

function admitRows(
  rows: readonly RecordedRow[],
  { unknownColumns }: TabularParams,
  state: unknown,
): Admission {
  let columns = state as TabularState;
  const admitted: RecordedRow[] = [];
  let known = new Set((columns ?? []).map((elements) => new Path(elements).toString()));
  for (const row of rows) {
    if (columns === null) {
      columns = row.cells.map(([column]) => column.elements);
      known = distinctColumns(row);
      admitted.push({ name: row.name, cells: oneTimestamp(row.cells, row.cells) });
      continue;
    }
    const latest = new Map<string, RecordedCell>();
    for (const cell of row.cells) {
      const key = cell[0].toString();
      if (!known.has(key)) {
        if (unknownColumns === 'error') throw newColumn(cell[0], columns);
        if (unknownColumns === 'ignore') continue;
      }
      latest.set(key, cell);
    }
    admitted.push({ name: row.name, cells: oneTimestamp([...latest.values()], row.cells) });
  }
  return { rows: admitted, state: columns };
}

/** @throws INVALID_PARAMETER when a column occurs twice */
export function checkDistinctColumns(row: RecordedRow): void {
  distinctColumns(row);
}

function distinctColumns(row: RecordedRow): Set<string> {
  const names = new Set<string>();
  for (const [column] of row.cells) {
    const key = column.toString();
    if (names.has(key)) {
      throw failure(
        'INVALID_PARAMETER',
        `Duplicate column name in tabular dataset entry: ${key} in row ${row.name}`,
      );
    }
    names.add(key);
  }
  return names;
}

/** The latest timestamp of the row for every cell; -Inf when the row gives none. */
export function oneTimestamp(
  cells: readonly RecordedCell[],
  given: readonly RecordedCell[],
): RecordedCell[] {
  const latest = given.reduce((ts, cell) => laterOf(ts, cell[2]), MINUS_INFINITY);
  return cells.map(([column, atom]) => [column, atom, latest] as const);
}

/** Refuses a column that the first row did not have. */
export function newColumn(column: Path, columns: readonly (readonly string[])[]): Error {
  return failure(
    'INVALID_PARAMETER',
    `New column name while recording row in tabular dataset with unknownColumns=ERROR: ${column}`,
    {
      columnName: column.toString(),
      knownColumns: columns.map((elements) => new Path(elements).toString()),
    },
  );
}

const DUPLICATES_LISTED_MAX = 1000;
const LIST_LENGTH_MAX = 100;

/** Refuses content in which a row name occurs twice. */
function openUniqueWriter(context: WriterContext): ContentWriter {
  const writer = openColumnarWriter(context);
  return {
    ...writer,
    finish(state) {
      const snapshot = writer.finish(state);
      try {
        checkUniqueRows(snapshot, context.arenas);
      } catch (thrown) {
        freeSnapshot(snapshot, context.arenas);
        throw thrown;
      }
      return snapshot;
    },
  };
}

/** @throws DATA_ERROR naming the rows that occur twice */
export function checkUniqueRows(snapshot: Snapshot, arenas: ArenaAllocator): void {
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
  const rows = names.duplicates();
  if (rows.length === 0) return;
  const paths = new Map(rows.map((row) => [names.textAt(row), names.pathAt(row)]));
  throw duplicateRows([...paths.values()]);
}

/** Names sorted as paths; the list is cut after the name that exceeds 100 characters. */
export function duplicateRows(names: readonly Path[]): Error {
  const sorted = [...names].sort(comparePaths).map(String);
  let list = '';
  let cut = false;
  for (const name of sorted) {
    if (list.length > LIST_LENGTH_MAX) {
      cut = true;
      break;
    }
    list += (list === '' ? '' : ', ') + name;
  }
  return failure(
    'DATA_ERROR',
    `Duplicate row name(s) in tabular dataset: ${list}${cut ? '...' : ''}`,
    { duplicates: sorted.slice(0, DUPLICATES_LISTED_MAX) },
  );
}
