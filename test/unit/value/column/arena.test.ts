import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Arena } from '../../../../src/value/column/arena.ts';
import { ArenaLease, ArenaSet } from '../../../../src/value/column/arena-set.ts';
import type { Span } from '../../../../src/value/column/snapshot.ts';
import { compiledModule } from '../../../support/project.ts';

const SMALL = 1024;

describe('Arena', () => {
  test('spans are aligned, apart from one another and padded', () => {
    const arena = Arena.create(0, SMALL);
    const sizes = [0, 1, 15, 16, 17, 100, 65_536];
    const offsets = sizes.map((size) => arena.allocate(size));
    for (let i = 0; i < sizes.length; i++) {
      const offset = offsets[i] as number;
      expect(offset % 16).toBe(0);
      expect(offset).toBeGreaterThanOrEqual(2 * 65_536);
      const next = offsets[i + 1] ?? Number.POSITIVE_INFINITY;
      expect(next - offset).toBeGreaterThanOrEqual((sizes[i] as number) + 64);
    }
  });

  test('offsets reach beyond 2 GiB', () => {
    const arena = Arena.create(0);
    const first = arena.allocate(2 ** 31 + 100);
    const second = arena.allocate(2 ** 30);
    expect(second).toBeGreaterThan(2 ** 31);
    arena.f64[second / 8] = 1.5;
    expect(arena.u8[second + 7]).toBe(0x3f);
    arena.free(second, 2 ** 30);
    arena.free(first, 2 ** 31 + 100);
    expect(arena.usedBytes).toBe(0);
    expect(arena.allocate(4 * 2 ** 30 - 65_536 * 4)).toBeGreaterThan(0);
  });

  test('answers 0 when no block is large enough', () => {
    const arena = Arena.create(0, SMALL);
    expect(arena.allocate(SMALL * 65_536)).toBe(0);
    expect(arena.allocate(2 ** 33)).toBe(0);
  });

  test('freed neighbours become one block again, in any order of freeing', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(200_000), { minLength: 1, maxLength: 40 }),
        fc.infiniteStream(fc.nat()),
        (sizes, choices) => {
          const arena = Arena.create(0, 256);
          const live: [number, number][] = [];
          for (const size of sizes) {
            const offset = arena.allocate(size);
            if (offset !== 0) live.push([offset, size]);
          }
          while (live.length > 0) {
            const choice = (choices.next().value as number) % live.length;
            const [[offset, size]] = live.splice(choice, 1) as [[number, number]];
            arena.free(offset, size);
          }
          expect(arena.usedBytes).toBe(0);
          expect(arena.allocate(253 * 65_536)).toBeGreaterThan(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  test('random use never overlaps spans', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30_000), { maxLength: 200 }), (steps) => {
        const arena = Arena.create(0, 64);
        const live: { offset: number; size: number; mark: number }[] = [];
        for (const [index, step] of steps.entries()) {
          if (step % 3 === 0 && live.length > 0) {
            const [span] = live.splice(step % live.length, 1);
            if (span === undefined) continue;
            const bytes = arena.u8.subarray(span.offset, span.offset + span.size);
            expect(bytes.every((byte) => byte === span.mark)).toBe(true);
            arena.free(span.offset, span.size);
          } else {
            const offset = arena.allocate(step);
            if (offset === 0) continue;
            const mark = index % 251;
            arena.u8.fill(mark, offset, offset + step);
            live.push({ offset, size: step, mark });
          }
        }
        for (const { offset, size, mark } of live) {
          expect(arena.u8.subarray(offset, offset + size).every((byte) => byte === mark)).toBe(
            true,
          );
        }
      }),
      { numRuns: 50 },
    );
  });

  test('freeing twice or with another size is refused', () => {
    const arena = Arena.create(0, SMALL);
    const offset = arena.allocate(100);
    expect(() => arena.free(offset, 101)).toThrow('no span of 101 bytes');
    arena.free(offset, 100);
    expect(() => arena.free(offset, 100)).toThrow('no span of 100 bytes');
  });

  test('a retained span stays until its last holder frees it', () => {
    const arena = Arena.create(0, SMALL);
    const offset = arena.allocate(100);
    arena.retain(offset, 100);
    expect(arena.free(offset, 100)).toBe(0);
    expect(arena.free(offset, 100)).toBeGreaterThan(100);
    expect(arena.usedBytes).toBe(0);
  });
});

describe('ArenaSet', () => {
  test('counts use and peak, and names the budget when it is spent', () => {
    const set = ArenaSet.create({ budgetBytes: 1_000_000, arenaPageCount: SMALL });
    const span = set.allocate(600_000);
    expect(set.usedBytes).toBeGreaterThanOrEqual(600_000);
    expect(() => set.allocate(600_000)).toThrow(
      expect.objectContaining({
        code: 'OUT_OF_MEMORY',
        message: expect.stringMatching(/^Out of memory\. 0\.6 MB .*budget of 1\.0 MB/),
      }),
    );
    set.free(span);
    expect(set.usedBytes).toBe(0);
    expect(set.peakBytes).toBeGreaterThanOrEqual(600_000);
    set.free(set.allocate(600_000));
  });

  test('goes to the next arena when one is full', () => {
    const set = ArenaSet.create({ budgetBytes: 8e6, arenaPageCount: 64 });
    const spans = [set.allocate(3_000_000), set.allocate(3_000_000)];
    expect(spans.map((span) => span.arena)).toEqual([0, 1]);
  });

  test('a scope frees what was neither freed nor kept', () => {
    const set = ArenaSet.create({ budgetBytes: 1e6, arenaPageCount: SMALL });
    const scope = new ArenaLease(set);
    const [kept, freed] = [scope.allocate(10), scope.allocate(20)] as [Span, Span];
    scope.allocate(30);
    scope.free(freed);
    scope.keep([kept]);
    scope.retain(kept);
    scope.release();
    set.free(kept);
    expect(set.usedBytes).toBe(0);
  });

  test('two threads allocate and free at once without losing or sharing a byte', async () => {
    const set = ArenaSet.create({ budgetBytes: 60e6, arenaPageCount: SMALL });
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(workerData.module).then(({ ArenaSet }) => {
        const set = ArenaSet.open(workerData.descriptor);
        let state = workerData.seed, bad = 0;
        const next = () => (state = (state * 1103515245 + 12345) & 0x7fffffff);
        const live = [];
        const check = ({ span, mark }) => {
          const { u8 } = set.get(span.arena);
          for (let i = 0; i < span.sizeBytes; i++) if (u8[span.offset + i] !== mark) bad++;
          set.free(span);
        };
        for (let i = 0; i < 30000; i++) {
          if (live.length > 100 || (next() % 2 && live.length > 0)) {
            check(live.splice(next() % live.length, 1)[0]);
          } else {
            const mark = next() % 256;
            const span = set.allocate(next() % 3000);
            set.get(span.arena).u8.fill(mark, span.offset, span.offset + span.sizeBytes);
            live.push({ span, mark });
          }
        }
        live.forEach(check);
        parentPort.postMessage(bad);
      });`;
    const module = compiledModule('value/column/arena-set.ts').href;
    const bads = await Promise.all(
      [1, 2].map((seed) => {
        const worker = new Worker(source, {
          eval: true,
          workerData: { module, descriptor: set.descriptor(), seed },
        });
        return new Promise((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        });
      }),
    );
    expect(bads).toEqual([0, 0]);
    expect(set.usedBytes).toBe(0);
    expect(set.arenas.every((arena) => arena.usedBytes === 0)).toBe(true);
  });

  // Nothing but allocation happens in these threads, so most of them would end inside of it.
  test('a thread that was kept out is terminated without leaving a lock', async () => {
    const set = ArenaSet.create({ budgetBytes: 60e6, arenaPageCount: SMALL });
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      import(workerData.module).then(({ ArenaSet }) => {
        const set = ArenaSet.open(workerData.descriptor);
        parentPort.postMessage('started');
        for (;;) set.free(set.allocate(100));
      });`;
    const module = compiledModule('value/column/arena-set.ts').href;
    for (let round = 0; round < 20; round++) {
      const workerData = { module, descriptor: set.descriptor() };
      const worker = new Worker(source, { eval: true, workerData });
      await new Promise((resolve) => worker.once('message', resolve));
      const { threadId } = worker;
      set.keepOut(threadId);
      await worker.terminate();
      set.forgetOutsider(threadId);
      set.free(set.allocate(100));
    }
  });

  test('an arena added later is known by its id', () => {
    const set = ArenaSet.create({ budgetBytes: 1e6, arenaPageCount: 64 });
    const other = ArenaSet.open(set.descriptor());
    const descriptor = set.grow();
    expect(other.add(descriptor).id).toBe(descriptor.id);
    expect(other.get(descriptor.id).memory).toBe(descriptor.memory);
  });
});
