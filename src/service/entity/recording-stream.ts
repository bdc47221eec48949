// Recording from bodies that arrive in pieces.

import { nowSeconds } from '../id.ts';
import { arrowBlocks } from '../route/arrow-block.ts';
import { type BodyBlock, lineBlocks } from '../route/body-block.ts';
import type { DatasetEntity } from './dataset-entity.ts';

export type StreamForm = 'ndjson' | 'arrow';

/** Bodies up to here are recorded as a whole or not at all; longer ones in blocks of this size. */
export const BLOCK_SIZE = 64 * 2 ** 20;

export interface StreamOptions {
  /** aborts when nobody waits any more */
  readonly signal: AbortSignal;
  readonly blockSize?: number;
}

/**
 * Records a body while it arrives: a block is parsed and kept while the next is received.
 * @throws what recording throws; blocks before the bad one stay recorded
 */
export async function recordStream(
  dataset: DatasetEntity,
  form: StreamForm,
  body: AsyncIterable<Uint8Array>,
  { signal, blockSize = BLOCK_SIZE }: StreamOptions,
): Promise<void> {
  const ts = nowSeconds();
  const blocks = form === 'arrow' ? arrowBlocks(body, blockSize) : lineBlocks(body, blockSize);
  let recording: Promise<void> = Promise.resolve();
  const record = ({ bytes, first }: BodyBlock) => {
    const recorded = dataset.record(form, bytes, { first, ts });
    // The next caller that awaits it gets the failure; until then it must not count as unhandled.
    recorded.catch(() => undefined);
    return recorded;
  };
  for await (const block of blocks) {
    await recording;
    signal.throwIfAborted();
    recording = record(block);
  }
  await recording;
}
