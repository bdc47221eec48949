// JSON values as lines, and lines as JSON values, both while they come.
import { parseJson, stringifyJson } from '../util/exact-json.ts';

/** Small enough to answer soon, large enough to be worth a request. */
const BLOCK_LENGTH = 32 * 1024;

export type Source<T> = Iterable<T> | AsyncIterable<T>;

/** What became of the values that were to be encoded. */
export interface SourceFailure {
  error?: { readonly thrown: unknown };
}

/**
 * Encodes values as they are asked for; those that are ready together go together. Of values that
 * come asynchronously at most one is taken ahead of its turn.
 * @param failure told when the source fails, whose error a transport would report as its own
 */
export async function* encodeLines(
  values: Source<unknown>,
  failure: SourceFailure = {},
): AsyncGenerator<Uint8Array> {
  try {
    yield* Symbol.asyncIterator in values ? encodeLater(values) : encodeNow(values);
  } catch (thrown) {
    failure.error = { thrown };
    throw thrown;
  }
}

function* encodeNow(values: Iterable<unknown>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = '';
  for (const value of values) {
    text += `${stringifyJson(value)}\n`;
    if (text.length < BLOCK_LENGTH) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}

async function* encodeLater(values: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = values[Symbol.asyncIterator]();
  let isOver = false;
  try {
    let text = '';
    let turn: Promise<undefined> | undefined;
    let pending = take(iterator);
    for (;;) {
      const next = await (turn === undefined ? pending : Promise.race([pending, turn]));
      if (next === undefined || text.length >= BLOCK_LENGTH) {
        yield encoder.encode(text);
        text = '';
        turn = undefined;
      }
      if (next === undefined) continue;
      if (next.done === true) break;
      text += `${stringifyJson(next.value)}\n`;
      turn ??= turnOfEvents();
      pending = take(iterator);
    }
    isOver = true;
    if (text !== '') yield encoder.encode(text);
  } finally {
    // Not awaited: a source that waits for something hears of its end only after that.
    if (!isOver) iterator.return?.()?.catch(() => undefined);
  }
}

function take<T>(iterator: AsyncIterator<T>): Promise<IteratorResult<T>> {
  const taken = iterator.next();
  // The caller that awaits it gets the failure; until then it must not count as unhandled.
  taken.catch(() => undefined);
  return taken;
}

/** Until then, everything that is ready has come. */
function turnOfEvents(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), 0));
}

/** The values of lines, those that came together together. @throws JsonSyntaxError */
export async function* decodeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<unknown[]> {
  for await (const lines of textLines(pieces)) {
    yield lines.filter((line) => line !== '').map((line) => parseJson(line));
  }
}

/** Lines without their ends, those that came together together; the last one needs no end. */
export async function* textLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder();
  const begun: string[] = [];
  for await (const piece of pieces) {
    const lines = decoder.decode(piece, { stream: true }).split('\n');
    begun.push(lines[0] as string);
    if (lines.length === 1) continue;
    lines[0] = begun.join('');
    begun.length = 0;
    begun.push(lines.pop() as string);
    yield lines;
  }
  const last = begun.join('') + decoder.decode();
  if (last !== '') yield [last];
}
