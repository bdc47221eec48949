// Calling functions and describing them.
import { isLightInput } from '../../../function/light-expression.ts';
import { parse } from '../../../schema/parse.ts';
import { failure } from '../../../util/error.ts';
import { MAIN_THREAD_CONTEXT } from '../../engine/engine.ts';
import { applyBatch } from '../../engine/task/batch.ts';
import { applyFunction } from '../../engine/task/function.ts';
import { functionCard } from '../../entity/function-card.ts';
import { functionInfo } from '../../entity/function-info.ts';
import { nowSeconds } from '../../id.ts';
import type { Service } from '../../service.ts';
import {
  APPLICATION_PARAMETERS,
  type ApplicationValues,
  applicationOf,
  BATCH_PARAMETERS,
  type BatchValues,
  batchInputOf,
} from '../call-parameters.ts';
import { applyLines } from '../line-stream.ts';
import { isBodyDeferred } from '../parameter-binding.ts';
import { jsonReply, type Reply } from '../request.ts';
import { runWithAtMost } from '../request-context.ts';
import { type BoundRequest, type Route, route } from '../route.ts';
import { streamTask } from '../streamed-reply.ts';

const JSON_TYPE = 'application/json';

function handleApplication(
  request: BoundRequest<ApplicationValues>,
  service: Service,
): Reply | Promise<Reply> {
  const entity = service.functions.get(request.params.id as string);
  const options = { contentType: JSON_TYPE, signal: request.signal };
  if (isBodyDeferred(request.route, request)) {
    const large = largeBody(request);
    const args = { function: entity.id, ...large };
    return streamTask(service, 'apply', args, { ...options, transfer: [large.body.buffer] });
  }
  const call = applicationOf(request.values);
  if (entity.isLight && isLightInput(call.input)) {
    const compiled = service.engine.mirror.compiledFunction(entity.id);
    const text = applyFunction(compiled, call, MAIN_THREAD_CONTEXT);
    return { status: 200, contentType: JSON_TYPE, text };
  }
  return streamTask(service, 'apply', { function: entity.id, ...call }, options);
}

/** A body for a worker to parse, with what messages say of its request. */
function largeBody({ verb, path, body }: BoundRequest) {
  return { verb, path, body: body.take() };
}

/** More elements than this are computed by a worker, whatever the function. */
const LIGHT_BATCH_MAX = 64;

function handleBatch(request: BoundRequest<BatchValues>, service: Service): Reply | Promise<Reply> {
  const entity = service.functions.get(request.params.id as string);
  const call = { function: entity.id, ts: nowSeconds() };
  const options = { contentType: JSON_TYPE, signal: request.signal };
  if (isBodyDeferred(request.route, request)) {
    const large = largeBody(request);
    const args = { ...call, ...large };
    return streamTask(service, 'batch', args, { ...options, transfer: [large.body.buffer] });
  }
  const input = batchInputOf(request.values);
  if (entity.isLight && elementCount(input) <= LIGHT_BATCH_MAX && isLightInput(input)) {
    const compiled = service.engine.mirror.compiledFunction(entity.id);
    const text = [...applyBatch(compiled, input, call.ts, MAIN_THREAD_CONTEXT)].join('');
    return { status: 200, contentType: JSON_TYPE, text };
  }
  return streamTask(service, 'batch', { ...call, input }, options);
}

function elementCount(input: unknown): number {
  if (Array.isArray(input)) return input.length;
  return typeof input === 'object' && input !== null ? Object.keys(input).length : 1;
}

const application = {
  path: '/v1/functions/:id/application',
  summary: 'Applies a function to one input',
  role: 'reader' as const,
  work: 'heavy' as const,
  measured: 'application' as const,
  sharedDataOnly: true,
  hybrid: APPLICATION_PARAMETERS,
  defersLargeBodies: true,
  isLight: (request: BoundRequest<ApplicationValues>, service: Service) =>
    service.functions.find(request.params.id as string)?.isLight === true &&
    !isBodyDeferred(request.route, request) &&
    isLightInput(request.values.input),
  handle: handleApplication,
};

const batch = {
  path: '/v1/functions/:id/batch',
  summary: 'Applies a function to many inputs',
  role: 'reader' as const,
  work: 'heavy' as const,
  measured: 'batch' as const,
  sharedDataOnly: true,
  hybrid: BATCH_PARAMETERS,
  defersLargeBodies: true,
  handle: handleBatch,
};

export const FUNCTION_ROUTES: readonly Route[] = [
  route({ ...application, verb: 'GET' }),
  route({ ...application, verb: 'POST' }),
  route({ ...batch, verb: 'GET' }),
  route({ ...batch, verb: 'POST' }),
  route({
    verb: 'POST',
    path: '/v1/functions/:id/stream',
    summary: 'Applies a function to inputs that arrive one a line, for as long as they come',
    role: 'reader',
    sharedDataOnly: true,
    body: { description: 'one JSON value a line: an input each' },
    reply: {
      description:
        'one JSON value a line, in the order of the inputs; a line {"error", "line"} is the last',
      contentTypes: ['application/x-ndjson'],
    },
    streamsBody: () => true,
    bodyMayPause: true,
    handle(request, service) {
      const { id } = service.functions.get(request.params.id as string);
      return {
        status: 200,
        contentType: 'application/x-ndjson',
        stream: applyLines(service, id, request.body.stream(), request.signal),
      };
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/functions/:id/info',
    summary: 'Describes the inputs and the output of a function',
    role: 'reader',
    sharedDataOnly: true,
    async handle(request, service) {
      const {
        interface: known,
        functionType,
        params,
        creatorRole,
      } = service.functions.get(request.params.id as string);
      const bound =
        known ??
        (await runWithAtMost(creatorRole, () =>
          service.compute('bind', { type: functionType.name, params }, { signal: request.signal }),
        ));
      return jsonReply(functionInfo('interface' in bound ? bound.interface : bound));
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/functions/:id/details',
    summary: 'Internals of a function, for instance its model',
    role: 'reader',
    sharedDataOnly: true,
    async handle(request, service) {
      const id = request.params.id as string;
      service.functions.get(id);
      return jsonReply(await service.compute('details', { function: id }));
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/functions/:id/status',
    summary: 'What the type of a function tells of it, for instance a summary of its model',
    role: 'reader',
    async handle(request, { functions }) {
      const entity = functions.get(request.params.id as string);
      await entity.refresh();
      return jsonReply(entity.status());
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/functions/:id/card',
    summary: 'The card of a model: from what and how it was trained, and its last test',
    role: 'reader',
    handle(request, { functions, procedures }) {
      const entity = functions.get(request.params.id as string);
      return jsonReply(functionCard(entity, procedures.live()));
    },
  }),
  ...(['GET', 'POST', 'PUT', 'DELETE'] as const).map((verb) =>
    route({
      verb,
      path: '/v1/functions/:id/routes/*',
      summary: 'Routes of the type of a function',
      role: verb === 'GET' ? 'reader' : 'editor',
      lenient: true,
      async handle(request, service) {
        const id = request.params.id as string;
        const { functionType, type } = service.functions.get(id);
        const rest = request.params.rest as string;
        const name = rest.slice(1);
        const routes = functionType.routes ?? {};
        const declared = Object.hasOwn(routes, name) ? routes[name] : undefined;
        if (verb !== 'POST' || declared === undefined) {
          throw failure(
            'INVALID_PARAMETER',
            `Function of type '${type}' does not respond to custom route '${rest}'`,
            { verb, resource: request.path },
          );
        }
        const body = parse(declared.body, request.body.json(), 'body');
        const answer = await service.compute('functionRoute', { function: id, route: name, body });
        if ('change' in answer) {
          service.engine.publish({ type: 'function-change', id, change: answer.change });
        }
        return jsonReply(answer.reply);
      },
    }),
  ),
];
