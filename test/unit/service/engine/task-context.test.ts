// A task that waits for something outside is woken by its cancel.
import { expect, test } from 'vitest';
import { serialParallel } from '../../../../src/exec/parallel.ts';
import type { Task } from '../../../../src/exec/task.ts';
import { type ByteStream, collectBytes, interruptible } from '../../../../src/file/byte-stream.ts';
import { TaskContext } from '../../../../src/service/engine/task-context.ts';
import { failure } from '../../../../src/util/error.ts';

/** A task that is cancelled at that look. */
function taskCancelledAt(lookMax: number): Task {
  let lookCount = 0;
  const checkCancelled = () => {
    if (++lookCount >= lookMax) throw failure('CANCELLED', 'the task was cancelled');
  };
  const unused = () => {
    throw new Error('the task only waits');
  };
  const parallel = serialParallel({ checkCancelled });
  return {
    checkCancelled,
    parallel,
    isFrugal: true,
    progress: unused,
    emit: unused,
    emitLast: unused,
    callHost: unused,
  };
}

let isLetGo = false;

/** Two pieces, and then nothing more, without an end. */
function stalled(): ByteStream {
  const pieces = [Uint8Array.of(1), Uint8Array.of(2)];
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        const value = pieces.shift();
        return value === undefined ? new Promise(() => {}) : Promise.resolve({ value });
      },
      return() {
        isLetGo = true;
        return new Promise(() => {});
      },
    }),
  };
}

test('a stream that gives nothing more is left by a cancel', async () => {
  const scope = new TaskContext();
  const read: number[] = [];
  const reading = scope.during(taskCancelledAt(2), async () => {
    for await (const piece of interruptible(stalled(), (promise) => scope.waitFor(promise))) {
      read.push(...piece);
    }
  });
  await expect(reading).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(read).toEqual([1, 2]);
  expect(isLetGo).toBe(true);
});

test('a reader that stops by itself ends the source', async () => {
  const scope = new TaskContext();
  let isEnded = false;
  async function* source() {
    try {
      yield Uint8Array.of(1);
      yield Uint8Array.of(2);
    } finally {
      isEnded = true;
    }
  }
  const stream = interruptible(source(), (promise) => scope.waitFor(promise));
  await scope.during(taskCancelledAt(1000), async () => {
    for await (const piece of stream) {
      expect(piece).toEqual(Uint8Array.of(1));
      break;
    }
  });
  expect(isEnded).toBe(true);
});

test('what comes in time is handed on, failures too', async () => {
  const scope = new TaskContext();
  async function* source() {
    yield Uint8Array.of(1, 2);
    yield Uint8Array.of(3);
  }
  await scope.during(taskCancelledAt(1000), async () => {
    const bytes = interruptible(source(), (promise) => scope.waitFor(promise));
    expect([...(await collectBytes(bytes))]).toEqual([1, 2, 3]);
    await expect(scope.waitFor(Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  });
  await expect(scope.waitFor(Promise.resolve('without a task'))).resolves.toBe('without a task');
});
