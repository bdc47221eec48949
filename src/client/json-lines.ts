// JSON values as lines, and lines as JSON values, both while they come.
import { parseJson, stringifyJson } from '../util/exact-json.ts';

/** Small enough to answer soon, large enough to be worth a request. */
const BLOCK_LENGTH = 32 * 1024;

export type Source<T> = Iterable<T> | AsyncIterable<T>;

/**
 * Encodes values as they are asked for; those that are ready together go together. At most one
 * value is taken ahead of its turn.
 */
export async function* encodeLines(values: Source<unknown>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const iterator = iteratorOf(values);
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
    if (!isOver) Promise.resolve(iterator.return?.()).catch(() => undefined);
  }
}

function iteratorOf<T>(values: Source<T>): AsyncIterator<T> | Iterator<T> {
  return Symbol.asyncIterator in values
    ? values[Symbol.asyncIterator]()
    : values[Symbol.iterator]();
}

function take<T>(iterator: AsyncIterator<T> | Iterator<T>): Promise<IteratorResult<T>> {
  const taken = (async () => iterator.next())();
  // Whoever awaits it is told; until then it is nobody's failure.
  taken.catch(() => undefined);
  return taken;
}

/** Until then, everything that is ready has come. */
function turnOfEvents(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), 0));
}

/** @throws JsonSyntaxError */
export async function* decodeLines(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  for await (const lines of textLines(pieces)) {
    for (const line of lines) if (line !== '') yield parseJson(line);
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
