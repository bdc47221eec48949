// Watching what is created, changed and removed.
import { stringifyJson } from '../../../util/exact-json.ts';
import { parseWatch, watchEvents, watchedAt } from '../../entity/watch.ts';
import { type Route, route } from '../route.ts';

const EVENT_STREAM = 'text/event-stream';

export const WATCH_ROUTES: readonly Route[] = [
  route({
    verb: 'POST',
    path: '/v1/watches',
    summary: 'Tells what collections hold, then each change, until the client hangs up',
    role: 'editor',
    work: 'live',
    body: {
      description:
        'array of {"channel", "filter"}, one for each level: first the collection, then its entries; channels are names, children, elements, config and status, a filter is an id or *',
    },
    reply: {
      description:
        'one JSON value a line for each event, or server-sent events when text/event-stream is accepted',
    },
    handle(request, service) {
      const levels = parseWatch(request.body.json());
      const watched = watchedAt(levels, (kind) => service.collection(kind));
      const isEventStream = (request.headers.accept ?? '').includes(EVENT_STREAM);
      const events = watchEvents(watched, request.signal);
      return {
        status: 200,
        headers: { 'Cache-Control': 'no-cache' },
        contentType: isEventStream ? EVENT_STREAM : 'application/json',
        stream: encodeEvents(events, isEventStream ? ['data: ', '\n\n'] : ['', '\n']),
      };
    },
  }),
];

async function* encodeEvents(
  events: AsyncGenerator<unknown>,
  [before, after]: readonly [string, string],
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const event of events) {
    yield encoder.encode(`${before}${stringifyJson(event)}${after}`);
  }
}
