// A value that follows work wherever it goes on after a promise.
//
// AsyncLocalStorage would follow callbacks too, but on Node 20 and 22 it is told of everything that
// Node itself begins, which makes a small HTTP request an eighth slower. This follows promises
// only: work that goes on in a callback takes its value along by `keepContext`.
import { promiseHooks } from 'node:v8';

const VALUE = Symbol('async context');

interface Following extends Promise<unknown> {
  [VALUE]?: unknown;
}

let current: unknown;
let isFollowing = false;

/** The value of the running work. */
export function contextValue(): unknown {
  return current;
}

/** Runs work, and everything that goes on from it, with a value. */
export function runWithContext<Result>(value: unknown, work: () => Result): Result {
  if (!isFollowing) followPromises();
  const outer = current;
  current = value;
  try {
    return work();
  } finally {
    current = outer;
  }
}

/** Runs other work later with the value of now. */
export function keepContext(): <Result>(work: () => Result) => Result {
  const value = current;
  return (work) => runWithContext(value, work);
}

function followPromises(): void {
  isFollowing = true;
  promiseHooks.createHook({
    init(promise: Following) {
      if (current !== undefined) promise[VALUE] = current;
    },
    before(promise: Following) {
      current = promise[VALUE];
    },
    // What follows a promise begins when nothing else runs.
    after() {
      current = undefined;
    },
  });
}
