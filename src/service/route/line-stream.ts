// A function applied to the lines of a body while they arrive, in order.
import { setImmediate } from 'node:timers/promises';
import { hasLightLines } from '../../function/light-expression.ts';
import { errorLine, LineApplier } from '../../function/line-applier.ts';
import { RowanError } from '../../util/error.ts';
import { MAIN_THREAD_CONTEXT } from '../engine/engine.ts';
import { nowSeconds } from '../id.ts';
import type { Service } from '../service.ts';
import { type BodyBlock, lineBlocks } from './body-block.ts';

const LINE_SIZE_MAX = 64 * 2 ** 20;
/** Larger blocks have lines that take long, whatever the function. */
const LIGHT_BLOCK_SIZE_MAX = 1 << 18;
/** How long this thread may keep all others waiting. */
const SLICE_MS = 3;

/**
 * Answers line by line; a line that fails is answered by its error and is the last.
 * The function is looked up for each block, so that a stream follows its replacement.
 */
export async function* applyLines(
  service: Service,
  id: string,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const block of lineBlocks(body, 1, LINE_SIZE_MAX)) {
    try {
      const { isLight } = service.functions.get(id);
      const hasFailed =
        isLight && block.bytes.length <= LIGHT_BLOCK_SIZE_MAX && hasLightLines(block.bytes)
          ? yield* applyHere(service, id, block)
          : yield* applyInWorker(service, id, block, signal);
      if (hasFailed) return;
    } catch (thrown) {
      if (!(thrown instanceof RowanError) || thrown.code === 'CANCELLED') throw thrown;
      // The function is gone, or cannot be used any more.
      yield new TextEncoder().encode(errorLine(thrown, block.first));
      return;
    }
  }
}

/** @returns whether a line failed */
async function* applyHere(
  service: Service,
  id: string,
  { bytes, first }: BodyBlock,
): AsyncGenerator<Uint8Array, boolean> {
  const applier = new LineApplier(service.engine.mirror.compiledFunction(id), bytes, {
    scope: MAIN_THREAD_CONTEXT,
    ts: nowSeconds(),
    firstLine: first,
  });
  for (;;) {
    yield* applier.run(performance.now() + SLICE_MS);
    if (applier.isDone) return applier.hasFailed;
    await setImmediate();
  }
}

async function* applyInWorker(
  service: Service,
  id: string,
  { bytes, first }: BodyBlock,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, boolean> {
  const chunks: Uint8Array[] = [];
  const args = { function: id, lines: bytes, firstLine: first, ts: nowSeconds() };
  const { hasFailed } = await service.compute('lines', args, {
    signal,
    onChunk: (chunk) => {
      chunks.push(chunk);
    },
  });
  yield* chunks;
  return hasFailed;
}
