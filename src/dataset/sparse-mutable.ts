import { Type } from 'typebox';
import { choice } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { datasetType } from './dataset-type.ts';
import type { RecordedRow } from './recorded-row.ts';
import { openSparseWriter, sparseStatus } from './sparse-writer.ts';
import { makeQuantiser } from './time-quantum.ts';

/** Any rows with any columns; every data point has its own timestamp. */
export const sparseMutable = datasetType({
  name: 'sparse.mutable',
  summary:
    'Rows with any columns, recorded at any time; keeps every data point with its timestamp.',
  parameters: Type.Object({
    timeQuantumSeconds: Type.Number({
      description:
        'resolution of stored timestamps in seconds; above 1 it must be a whole number of seconds',
      default: 1,
      exclusiveMinimum: 0,
    }),
    consistencyLevel: choice(['consistentAfterCommit', 'consistentAfterWrite'], {
      description: 'whether recorded rows are visible after a commit or after each recording',
      default: 'consistentAfterCommit',
    }),
    favor: choice(['favorReads', 'favorWrites'], {
      description: 'what to favour with consistentAfterWrite; both give the same results',
      default: 'favorReads',
    }),
  }),
  check(params) {
    const quantum = params.timeQuantumSeconds;
    if (quantum > 1 && !Number.isInteger(quantum)) {
      throw failure(
        'INVALID_PARAMETER',
        `non-integral numbers of seconds not supported: params.timeQuantumSeconds is ${quantum}`,
      );
    }
  },
  recording: {
    visibility: (params) =>
      params.consistencyLevel === 'consistentAfterWrite' ? 'write' : 'commit',
    initialState: null,
    admit: (rows, params) => ({ rows: quantise(rows, params.timeQuantumSeconds), state: null }),
    roundedTime: (params) => makeQuantiser(params.timeQuantumSeconds),
    openWriter: openSparseWriter,
  },
  status: sparseStatus,
});

function quantise(rows: readonly RecordedRow[], timeQuantumSeconds: number): RecordedRow[] {
  const quantised = makeQuantiser(timeQuantumSeconds);
  return rows.map(({ name, cells }) => ({
    name,
    cells: cells.map(([column, atom, ts]) => [column, atom, quantised(ts)] as const),
  }));
}
