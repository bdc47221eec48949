// Behavior datasets: many rows of few distinct values; a commit ends the recording.
import { Type } from 'typebox';
import { url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import type { Snapshot } from '../value/column/snapshot.ts';
import { snapshotSize } from '../value/column/snapshot-memory.ts';
import { bytesOf, float64Of, uint32Of } from '../value/column/span-view.ts';
import { Path } from '../value/path.ts';
import { columnCountOf } from './columnar-writer.ts';
import { type Admission, type DatasetContent, datasetType } from './dataset-type.ts';
import type { RecordedRow } from './recorded-row.ts';
import { openSparseWriter } from './sparse-writer.ts';
import { makeQuantiser } from './time-quantum.ts';

/** What a behavior dataset remembers; plain data. */
interface BehaviorState {
  /** true: a commit has ended the recording */
  readonly isFrozen: boolean;
  /** data points that were recorded, equal ones each time */
  readonly eventCount: number;
  /** distinct pairs of column and value */
  readonly valueCount: number;
  /** distinct pairs of row and column */
  readonly cellCount: number;
}

const NO_EVENTS: BehaviorState = { isFrozen: false, eventCount: 0, valueCount: 0, cellCount: 0 };

const LOADED = Type.Object({
  dataFileUrl: url({ description: 'file to load, as the mutable type writes it' }),
});

const MUTABLE = Type.Object({
  dataFileUrl: Type.Optional(url({ description: 'file that the commit writes' })),
  timeQuantumSeconds: Type.Number({
    description:
      'resolution of stored timestamps in seconds; above 1 it must be a whole number of seconds',
    default: 1,
    exclusiveMinimum: 0,
  }),
});

const megabytes = (snapshot: Snapshot) => snapshotSize(snapshot) / 1e6;
const stateOf = ({ state }: DatasetContent) => (state ?? NO_EVENTS) as BehaviorState;

/** The file of a behavior dataset, read only. */
export const beh = datasetType({
  name: 'beh',
  summary: 'Values of a file that a dataset of type beh.mutable has written; read only.',
  parameters: LOADED,
  file: {
    url: (params) => params.dataFileUrl,
    loadedAs: 'beh',
    mark: 'beh',
    mustExist: true,
    hasSaves: false,
    stateOf: countedState,
  },
  status: (content) => ({
    rowCount: content.snapshot.rowCount,
    columnCount: columnCountOf(content.snapshot),
    valueCount: stateOf(content).valueCount,
    memUsageMb: megabytes(content.snapshot),
  }),
});

/** Values of any kind, until the commit. */
export const behMutable = datasetType({
  name: 'beh.mutable',
  summary: 'Values of any kind, which the commit freezes and writes to a file.',
  parameters: MUTABLE,
  check: ({ timeQuantumSeconds }) => checkQuantum(timeQuantumSeconds),
  unreadable: (state) =>
    (state as BehaviorState).isFrozen
      ? undefined
      : 'No matrix view for an uncommitted mutable dataset: commit it first',
  recording: {
    visibility: () => 'commit',
    initialState: NO_EVENTS,
    freezes: true,
    isFrozen: (state) => (state as BehaviorState).isFrozen,
    admit: (rows, params, state) => admitEvents(rows, params.timeQuantumSeconds, state),
    openWriter: openSparseWriter,
    stateAtCommit,
  },
  file: {
    url: (params) => params.dataFileUrl,
    loadedAs: 'beh',
    mark: 'beh',
    isWrittenOnly: true,
    hasSaves: false,
    stateOf: countedState,
  },
  status(content) {
    const { eventCount, valueCount } = stateOf(content);
    const { snapshot } = content;
    return {
      rowCount: snapshot.rowCount,
      valueCount,
      eventsRecorded: eventCount,
      memUsageMb: megabytes(snapshot),
    };
  },
});

const binaryStatus = (content: DatasetContent) => ({
  rowCount: content.snapshot.rowCount,
  columnCount: columnCountOf(content.snapshot),
  cellCount: stateOf(content).cellCount,
  memUsageMb: megabytes(content.snapshot),
});

/** The file of a binary behavior dataset, read only. */
export const behBinary = datasetType({
  name: 'beh.binary',
  summary: 'Ones of a file that a dataset of type beh.binary.mutable has written; read only.',
  parameters: LOADED,
  file: {
    url: (params) => params.dataFileUrl,
    loadedAs: 'beh.binary',
    mark: 'beh.binary',
    mustExist: true,
    stateOf: countedState,
  },
  status: binaryStatus,
});

/** Only the value 1, until the commit. */
export const behBinaryMutable = datasetType({
  name: 'beh.binary.mutable',
  summary: 'Which columns rows have, and when: records only the value 1; the commit freezes it.',
  parameters: MUTABLE,
  check: ({ timeQuantumSeconds }) => checkQuantum(timeQuantumSeconds),
  recording: {
    visibility: () => 'write',
    initialState: NO_EVENTS,
    freezes: true,
    isFrozen: (state) => (state as BehaviorState).isFrozen,
    admit(rows, params, state) {
      for (const { name, cells } of rows) {
        for (const [column, atom] of cells) {
          if (atom === 1) continue;
          throw failure(
            'INVALID_PARAMETER',
            `Binary behavior datasets can only record the value 1; row '${name}' has another in column '${column}'`,
          );
        }
      }
      return admitEvents(rows, params.timeQuantumSeconds, state);
    },
    openWriter: openSparseWriter,
    stateAtCommit,
  },
  file: {
    url: (params) => params.dataFileUrl,
    loadedAs: 'beh.binary',
    mark: 'beh.binary',
    isWrittenOnly: true,
    stateOf: countedState,
  },
  status: binaryStatus,
});

function checkQuantum(seconds: number): void {
  if (seconds <= 1 || Number.isInteger(seconds)) return;
  throw failure(
    'INVALID_PARAMETER',
    `non-integral numbers of seconds not supported: params.timeQuantumSeconds is ${seconds}`,
  );
}

/** Names become one element: the text of what was recorded. */
function admitEvents(rows: readonly RecordedRow[], quantum: number, state: unknown): Admission {
  const before = state as BehaviorState;
  if (before.isFrozen) {
    throw failure('INVALID_PARAMETER', 'the dataset was committed: nothing more can be recorded');
  }
  const quantised = makeQuantiser(quantum);
  const admitted = rows.map(({ name, cells }) => ({
    name: Path.of(name.toString()),
    cells: cells.map(
      ([column, atom, ts]) => [Path.of(column.toString()), atom, quantised(ts)] as const,
    ),
  }));
  const added = rows.reduce((sum, { cells }) => sum + cells.length, 0);
  return { rows: admitted, state: { ...before, eventCount: before.eventCount + added } };
}

function stateAtCommit(
  snapshot: Snapshot,
  state: unknown,
  isFinal: boolean,
  arenas: ArenaAllocator,
): BehaviorState {
  const before = state as BehaviorState;
  return { ...before, ...counts(snapshot, arenas), isFrozen: before.isFrozen || isFinal };
}

function countedState(snapshot: Snapshot, arenas: ArenaAllocator): BehaviorState {
  return { ...NO_EVENTS, ...counts(snapshot, arenas), isFrozen: true };
}

/** Distinct pairs of column and value, and of row and column. */
function counts(
  snapshot: Snapshot,
  arenas: ArenaAllocator,
): Pick<BehaviorState, 'valueCount' | 'cellCount'> {
  if (snapshot.layout !== 'sparse') return { valueCount: 0, cellCount: 0 };
  const columns = uint32Of(arenas, snapshot.columnIds);
  const kinds = bytesOf(arenas, snapshot.kinds);
  const payloads = uint32Of(arenas, snapshot.payloads);
  const offsets = float64Of(arenas, snapshot.rowOffsets);
  const values = new Set<string>();
  let cellCount = 0;
  for (let row = 0; row < snapshot.rowCount; row++) {
    let previous = -1;
    for (let point = offsets[row] as number; point < (offsets[row + 1] as number); point++) {
      const column = columns[point] as number;
      // Points of a row are ordered by column.
      if (column !== previous) cellCount++;
      previous = column;
      values.add(`${column} ${kinds[point]} ${payloads[point * 2]} ${payloads[point * 2 + 1]}`);
    }
  }
  return { valueCount: values.size, cellCount };
}
