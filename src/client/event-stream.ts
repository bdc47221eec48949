// Server-sent events.
import { parseJson } from '../util/exact-json.ts';
import { textLines } from './json-lines.ts';

export interface ServerEvent {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

/**
 * Events with JSON data; comments, which only keep the connection, are left out.
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export async function* serverEvents(
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void, undefined> {
  let fields = new Map<string, string>();
  for await (const lines of textLines(pieces)) {
    for (const line of lines) {
      if (line === '') {
        const data = fields.get('data');
        if (data !== undefined) {
          const event = fields.get('event') ?? 'message';
          yield { id: Number(fields.get('id') ?? 0), event, data: parseJson(data) };
        }
        fields = new Map();
      } else if (!line.startsWith(':')) {
        const [, name = '', value = ''] = /^([^:]*):? ?(.*?)\r?$/.exec(line) ?? [];
        const known = name === 'data' ? fields.get('data') : undefined;
        fields.set(name, known === undefined ? value : `${known}\n${value}`);
      }
    }
  }
}
