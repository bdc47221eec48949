import { Type } from 'typebox';
import { FETCHED_TYPE, fetchRow } from '../builtin/text/web.ts';
import { atomType } from '../plan/type/type.ts';
import { failure } from '../util/error.ts';
import { Scalar } from '../value/value.ts';
import { functionType } from './function-type.ts';
import { memberOf } from './input-member.ts';

/** How long a call waits for its turn before it looks whether it was cancelled. */
const WAIT_MS = 20;

/** What a URL gives, as a function with a limit on calls at the same time. */
export const fetcherFunction = functionType({
  name: 'fetcher',
  summary: 'What a URL gives: its content, or the text of an error. A call never fails.',
  parameters: Type.Object({
    maxConcurrentFetch: Type.Integer({
      description: 'calls at the same time; -1: any number',
      default: -1,
    }),
  }),
  binding: () => 'creation',
  reachesHost: true,
  check({ maxConcurrentFetch }) {
    if (maxConcurrentFetch >= 1 || maxConcurrentFetch === -1) return;
    throw failure(
      'INVALID_PARAMETER',
      `maxConcurrentFetch accepts values equal or greater to 1 or equal to -1; got ${maxConcurrentFetch}`,
    );
  },
  /** Threads count the calls that they make in memory that they share. */
  load: async () => ({ data: new Int32Array(new SharedArrayBuffer(4)), spans: [] }),
  compile({ maxConcurrentFetch }, _scope, artifact) {
    const running = artifact as Int32Array;
    return {
      input: [{ kind: 'row', members: [{ name: 'url', type: atomType('string') }], open: false }],
      output: FETCHED_TYPE,
      takesAnyValue: false,
      isLight: false,
      apply(input, scope) {
        const url = memberOf(input, 'url');
        const text = url instanceof Scalar && typeof url.atom === 'string' ? url.atom : '';
        if (maxConcurrentFetch === -1) return fetchRow(text, scope);
        for (;;) {
          const count = Atomics.load(running, 0);
          if (count >= maxConcurrentFetch) {
            scope.checkCancelled();
            Atomics.wait(running, 0, count, WAIT_MS);
          } else if (Atomics.compareExchange(running, 0, count, count + 1) === count) break;
        }
        try {
          return fetchRow(text, scope);
        } finally {
          Atomics.sub(running, 0, 1);
          Atomics.notify(running, 0);
        }
      },
    };
  },
});
