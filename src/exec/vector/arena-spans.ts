// Stretches of one arena that an operator holds while it runs, and gives back as a whole.
import { OVERRUN_SIZE } from '../../kernel/generated.ts';
import type { Span } from '../../value/column/snapshot.ts';
import type { VectorEngine } from './engine.ts';

export class ArenaSpans {
  readonly arena: number;
  readonly #engine: Pick<VectorEngine, 'arenas'>;
  readonly #spans: Span[] = [];

  constructor(engine: Pick<VectorEngine, 'arenas'>, arena: number) {
    this.#engine = engine;
    this.arena = arena;
  }

  /** Bytes of undefined content; kernels may write a little behind them. */
  allocate(sizeBytes: number): Span {
    const span = this.#engine.arenas.allocateIn(this.arena, sizeBytes + OVERRUN_SIZE);
    this.#spans.push(span);
    return span;
  }

  allocateZeroed(sizeBytes: number): Span {
    const span = this.allocate(sizeBytes);
    const { u8 } = this.#engine.arenas.get(this.arena);
    u8.fill(0, span.offset, span.offset + span.sizeBytes);
    return span;
  }

  release(): void {
    for (const span of this.#spans.splice(0)) this.#engine.arenas.free(span);
  }
}
