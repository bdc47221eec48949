// The runs of all procedures, newest first.
import { Type } from 'typebox';
import { failure } from '../../../util/error.ts';
import { parseTimestamp } from '../../../value/timestamp.ts';
import type { ProcedureEntity } from '../../entity/procedure-entity.ts';
import type { Run } from '../../run/run.ts';
import { jsonReply } from '../request.ts';
import { route } from '../route.ts';

const LIMIT_MAX = 1000;
const STATES = ['initializing', 'executing', 'finished', 'error', 'cancelled'];

export const ALL_RUNS = route({
  verb: 'GET',
  path: '/v1/runs',
  summary: 'Lists the runs of all procedures, newest first',
  role: 'reader',
  query: {
    state: Type.String({
      description: `only runs in these states, separated by commas: ${STATES.join(', ')}`,
      default: '',
    }),
    procedure: Type.String({ description: 'only runs of this procedure', default: '' }),
    limit: Type.Integer({ description: `at most so many, up to ${LIMIT_MAX}`, default: 100 }),
    before: Type.String({
      description: 'only runs that started before this date, to page on',
      default: '',
    }),
  },
  reply: {
    description: 'array of procedure, type, id, state, runStarted, runFinished and progress',
  },
  examples: [{ path: '/v1/runs?limit=20' }, { path: '/v1/runs?state=initializing,executing' }],
  handle({ values }, { procedures }) {
    const { procedure, state, limit } = values;
    if (limit < 0 || limit > LIMIT_MAX) {
      throw failure('INVALID_PARAMETER', `limit: ${limit} is not between 0 and ${LIMIT_MAX}`);
    }
    const states = state === '' ? undefined : state.split(',');
    const unknown = states?.find((name) => !STATES.includes(name));
    if (unknown !== undefined) {
      throw failure('INVALID_PARAMETER', `state: '${unknown}' is none of ${STATES.join(', ')}`);
    }
    const before = startedBefore(values.before);
    const found: RunOfProcedure[] = [];
    for (const owner of procedures.live()) {
      if (procedure !== '' && owner.id !== procedure) continue;
      for (const run of owner.runs()) {
        if (states?.includes(run.state) === false) continue;
        if ((run.startedAt ?? 0) < before) found.push({ owner, run });
      }
    }
    found.sort(newestFirst);
    return jsonReply(found.slice(0, limit).map(listedRun));
  },
});

interface RunOfProcedure {
  readonly owner: ProcedureEntity;
  readonly run: Run;
}

/** Seconds since the epoch. @throws INVALID_PARAMETER */
function startedBefore(text: string): number {
  if (text === '') return Number.POSITIVE_INFINITY;
  const seconds = parseTimestamp(text);
  if (seconds !== null && !Number.isNaN(seconds)) return seconds;
  throw failure(
    'INVALID_PARAMETER',
    `before: '${text}' is no date, for instance 2026-01-31T12:00:00Z`,
  );
}

function newestFirst(a: RunOfProcedure, b: RunOfProcedure): number {
  return (b.run.startedAt ?? 0) - (a.run.startedAt ?? 0) || b.run.sequence - a.run.sequence;
}

/** What the run made is in its own document, as it can be large. */
function listedRun({ owner, run }: RunOfProcedure): Record<string, unknown> {
  const { status: _status, id, ...document } = run.document();
  return { procedure: owner.id, type: owner.type, id, ...document };
}
