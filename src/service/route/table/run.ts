// Runs of procedures.

import { Type } from 'typebox';
import type { ProcedureParams } from '../../../procedure/procedure-type.ts';
import { failure } from '../../../util/error.ts';
import { stringifyJson } from '../../../util/exact-json.ts';
import { encodePathElement } from '../../../util/path-element.ts';
import { previewJson } from '../../../value/json.ts';
import type { ProcedureEntity } from '../../entity/procedure-entity.ts';
import type { Run, RunEvent } from '../../run/run.ts';
import type { Service } from '../../service.ts';
import { requireEntityRole } from '../caller-role.ts';
import { jsonReply, type Reply } from '../request.ts';
import { type BoundRequest, type Route, route } from '../route.ts';
import { ALL_RUNS } from './all-runs.ts';
import { emptyPayload, refuseTrailingSlash } from './entity.ts';

const RUNS_PATH = '/v1/procedures/:id/runs';
const RUN_PATH = `${RUNS_PATH}/:run`;

function procedureOf(request: BoundRequest, service: Service): ProcedureEntity {
  return service.procedures.get(request.params.id as string);
}

function runLocation(procedure: ProcedureEntity, run: Run): Record<string, string> {
  const elements = ['procedures', procedure.id, 'runs', run.id].map(encodePathElement);
  return { Location: `/v1/${elements.join('/')}`, EntityPath: JSON.stringify(elements) };
}

interface RunConfig {
  readonly id: string | undefined;
  readonly overrides: ProcedureParams;
}

/** Any key beside `id` and `params` is a parameter too; those in `params` win. */
function parseRunConfig(json: unknown): RunConfig {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw failure(
      'INVALID_PARAMETER',
      `configuration of a run: Object was expected; instead got '${previewJson(json)}'`,
    );
  }
  const { id, params, parameters, ...others } = json as Record<string, unknown>;
  if (id !== undefined && id !== null && typeof id !== 'string') {
    throw failure('INVALID_PARAMETER', `id: String was expected; instead got '${previewJson(id)}'`);
  }
  if (params !== undefined && parameters !== undefined) {
    throw failure(
      'INVALID_PARAMETER',
      'parameters is another name of params in a run; give only one',
    );
  }
  const given = params ?? parameters ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw failure(
      'INVALID_PARAMETER',
      `params: Object was expected; instead got '${previewJson(given)}'`,
    );
  }
  return { id: id ?? undefined, overrides: { ...others, ...given } };
}

async function startRun(request: BoundRequest, service: Service): Promise<Reply> {
  const procedure = procedureOf(request, service);
  const pathId = request.params.run;
  if (pathId === '') throw failure('INVALID_PARAMETER', 'empty id', { path: request.path });
  if (request.body.isEmpty) throw emptyPayload(request.verb, 'runs');
  const { id, overrides } = parseRunConfig(request.body.json());
  if (id === '') throw failure('INVALID_PARAMETER', 'empty id', { path: request.path });
  if (pathId !== undefined && id !== undefined && id !== pathId) {
    throw failure(
      'INVALID_PARAMETER',
      `Ambiguous names between route and config for procedure run PUT: '${pathId}' and '${id}'`,
      { valueInUri: pathId, valueInConfig: id, collection: 'runs' },
    );
  }
  const { type } = procedure;
  requireEntityRole(service.types, { kind: 'procedure', type }, request.role, 'running');
  const run = procedure.startRun(pathId ?? id, overrides);
  await (request.isAsync ? run.known : procedure.finished(run));
  const status = request.isAsync && request.verb === 'PUT' ? 202 : 201;
  return jsonReply(run.document(), status, runLocation(procedure, run));
}

const RUN_BODY = {
  description: '{"id", "params"}: parameters that the run overrides; other keys are parameters too',
};

export const RUN_ROUTES: readonly Route[] = [
  ALL_RUNS,
  route({
    verb: 'GET',
    path: RUNS_PATH,
    summary: 'Lists the ids of the runs of a procedure',
    role: 'reader',
    handle: (request, service) => jsonReply(procedureOf(request, service).runIds()),
  }),
  route({
    verb: 'POST',
    path: RUNS_PATH,
    summary: 'Runs a procedure',
    role: 'editor',
    work: 'construction',
    collectionOf: 'run',
    body: RUN_BODY,
    handle: startRun,
  }),
  route({
    verb: 'GET',
    path: RUN_PATH,
    summary: 'Shows a run',
    role: 'reader',
    handle(request, service) {
      const procedure = procedureOf(request, service);
      const id = request.params.run as string;
      if (id === '') throw refuseTrailingSlash('GET', request.path);
      return jsonReply(procedure.run(id).document());
    },
  }),
  route({
    verb: 'PUT',
    path: RUN_PATH,
    summary: 'Runs a procedure under a given run id',
    role: 'editor',
    work: 'construction',
    body: RUN_BODY,
    handle: startRun,
  }),
  route({
    verb: 'DELETE',
    path: RUN_PATH,
    summary: 'Removes a run; one that works is cancelled first',
    role: 'editor',
    async handle(request, service) {
      const procedure = procedureOf(request, service);
      const id = request.params.run as string;
      if (id === '') throw refuseTrailingSlash('DELETE', request.path);
      await procedure.deleteRun(id);
      return { status: 204 };
    },
  }),
  route({
    verb: 'GET',
    path: `${RUN_PATH}/state`,
    summary: 'The state of a run',
    role: 'reader',
    lenient: true,
    handle(request, service) {
      const run = procedureOf(request, service).runFor(request.params.run as string);
      return jsonReply({ state: run.state });
    },
  }),
  route({
    verb: 'PUT',
    path: `${RUN_PATH}/state`,
    summary: 'Cancels a run',
    role: 'editor',
    body: { description: '{"state":"cancelled"}' },
    lenient: true,
    handle(request, service) {
      const procedure = procedureOf(request, service);
      const run = procedure.runFor(request.params.run as string);
      checkStateBody(request.body.json());
      if (run.isActive) run.abort.abort();
      return jsonReply(run.document(), 200, runLocation(procedure, run));
    },
  }),
  route({
    verb: 'GET',
    path: `${RUN_PATH}/details`,
    summary: 'Details of a finished run',
    role: 'reader',
    handle: (request, service) =>
      jsonReply(procedureOf(request, service).details(request.params.run as string)),
  }),
  route({
    verb: 'GET',
    path: `${RUN_PATH}/events`,
    summary: 'States, progress, messages and the result of a run as server-sent events',
    role: 'reader',
    work: 'live',
    reply: { description: 'events until the run ends', contentTypes: ['text/event-stream'] },
    query: {
      after: Type.Integer({ description: 'only events after this number', default: 0 }),
    },
    handle(request, service) {
      const run = procedureOf(request, service).runFor(request.params.run as string);
      const after = lastEventId(request);
      return {
        status: 200,
        headers: { 'Cache-Control': 'no-cache' },
        contentType: 'text/event-stream',
        stream: eventStream(run, after, request.signal),
      };
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/procedures/:id/latestrun',
    summary: 'Redirects to the run that was started last',
    role: 'reader',
    lenient: true,
    handle(request, service) {
      const procedure = procedureOf(request, service);
      return { status: 307, headers: runLocation(procedure, procedure.latestRun()) };
    },
  }),
];

function checkStateBody(json: unknown): void {
  const accepted = 'accepted is {"state": "cancelled"}';
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    const given = json === undefined ? 'no body' : `'${previewJson(json)}'`;
    throw failure(
      'INVALID_PARAMETER',
      `state of a run: Object was expected; instead got ${given}; ${accepted}`,
    );
  }
  const { state, ...others } = json as Record<string, unknown>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw failure('UNKNOWN_FIELD', `unknown field ${unknown}; accepted is state`);
  }
  if (state === 'cancelled') return;
  const given = state === undefined ? 'no state' : `state ${previewJson(state)}`;
  throw failure('INVALID_PARAMETER', `${given} of a run; ${accepted}`);
}

function lastEventId(request: BoundRequest<{ readonly after: number }>): number {
  const header = request.headers['last-event-id'];
  const given = header === undefined ? request.values.after : Number(header);
  return Number.isSafeInteger(given) && given > 0 ? given : 0;
}

async function* eventStream(
  run: Run,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const event of run.events(after, signal)) yield encoder.encode(eventText(event));
}

function eventText(event: RunEvent | 'idle'): string {
  if (event === 'idle') return ':\n\n';
  return `id: ${event.id}\nevent: ${event.event}\ndata: ${stringifyJson(event.data)}\n\n`;
}
