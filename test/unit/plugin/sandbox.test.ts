// The sandbox alone: a worker, its limits, and questions that scripts ask.
import { afterAll, describe, expect, test } from 'vitest';
import type { Outcome, SandboxTaskKind, SandboxTasks } from '../../../src/plugin/message.ts';
import {
  type CallHost,
  type CallOptions,
  Sandbox,
  wasNeverBegun,
} from '../../../src/plugin/sandbox.ts';
import { SandboxPool } from '../../../src/plugin/sandbox-pool.ts';
import { RowanError } from '../../../src/util/error.ts';

/** A search in quadratic time, during which the engine does not look at its limits. */
const UNINTERRUPTIBLE = '"a".repeat(1e7).indexOf("a".repeat(5e6) + "b")';

const MEMORY_BYTES = 64 << 20;
const options = { memoryBytes: MEMORY_BYTES, onDefect() {} };

const open: { close(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.close()));
});

function makeSandbox(): Sandbox {
  const sandbox = new Sandbox(options);
  open.push(sandbox);
  return sandbox;
}

/** Threads take a while to start: tests that do not end theirs share one. */
let shared: Sandbox | undefined;

function sharedSandbox(): Sandbox {
  shared ??= makeSandbox();
  return shared;
}

function makeHost(answer: CallHost['answer'] = async () => null): CallHost {
  return { role: 'admin', answer, log() {} };
}

function run(
  sandbox: { call: Sandbox['call'] },
  source: string,
  callOptions: Partial<CallOptions> = {},
): Promise<Outcome<string | undefined>> {
  const program = { source, uri: 'test.js', args: undefined };
  return sandbox.call('script', program, { host: makeHost(), ...callOptions });
}

async function resultOf(outcome: Promise<Outcome<string | undefined>>): Promise<unknown> {
  const settled = await outcome;
  if ('exception' in settled) throw new Error(settled.exception.message);
  return settled.result === undefined ? undefined : JSON.parse(settled.result);
}

async function exceptionOf(outcome: Promise<Outcome<unknown>>) {
  const settled = await outcome;
  if ('exception' in settled) return settled.exception;
  throw new Error('the script did not throw');
}

async function failureOf(promise: Promise<unknown>): Promise<RowanError> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof RowanError) return thrown;
  throw new Error(`no failure but ${String(thrown)}`);
}

describe('the value of a program', () => {
  test('is that of the last statement', async () => {
    expect(await resultOf(run(sharedSandbox(), 'var x = 20; if (x > 3) { x + 1 }'))).toBe(21);
  });

  test('of a promise is what it settles to', async () => {
    const source = '(async () => { await null; return [await Promise.resolve(1), 2]; })()';
    expect(await resultOf(run(sharedSandbox(), source))).toEqual([1, 2]);
  });

  test('is nothing for undefined and null', async () => {
    const sandbox = sharedSandbox();
    expect(await resultOf(run(sandbox, 'undefined'))).toBeUndefined();
    expect(await resultOf(run(sandbox, 'null'))).toBeUndefined();
  });

  test('keeps the digits of large integers', async () => {
    const outcome = await run(sharedSandbox(), '({a: 2n ** 63n, b: "2"})');
    expect(outcome).toMatchObject({ result: '{"a":9223372036854775808,"b":"2"}' });
  });

  test('a promise that nothing settles is an error', async () => {
    const error = await failureOf(run(sharedSandbox(), 'new Promise(() => {})'));
    expect(error.message).toContain('never settles');
  });
});

describe('scopes', () => {
  test('of two programs share nothing', async () => {
    const sandbox = sharedSandbox();
    await run(sandbox, 'var leak = 1; Array.prototype.leak = 1');
    expect(await resultOf(run(sandbox, '[typeof leak, [].leak === undefined]'))).toEqual([
      'undefined',
      true,
    ]);
  });

  test('hold nothing of Node and import nothing', async () => {
    const names = ['process', 'require("fs")', 'fetch', 'setTimeout', 'WebAssembly', 'Worker'];
    const sandbox = sharedSandbox();
    for (const name of names) {
      const probe = `(() => { try { return typeof (${name}) } catch (e) { return "thrown" } })()`;
      expect(['undefined', 'thrown']).toContain(await resultOf(run(sandbox, probe)));
    }
    const imported = await exceptionOf(run(sandbox, 'import("plugin/scope.js")'));
    expect(imported.message).toContain('cannot be imported');
  });
});

describe('exceptions', () => {
  test('tell the place of an error', async () => {
    const exception = await exceptionOf(run(sharedSandbox(), 'function f() {\n  null.x;\n}\nf();'));
    expect(exception).toMatchObject({
      message: "Uncaught TypeError: cannot read property 'x' of null",
      type: 'TypeError',
      scriptUri: 'test.js',
      lineNumber: 2,
      lineContents: '  null[[[[.x]]]];',
      context: ['Running script'],
    });
    expect(exception.stack.map((frame) => [frame.functionName, frame.lineNumber])).toEqual([
      ['f', 2],
      [undefined, 4],
    ]);
  });

  test('tell the place of anything that is thrown', async () => {
    const exception = await exceptionOf(run(sharedSandbox(), 'var a = 1;\n  throw "boom";'));
    expect(exception).toMatchObject({
      message: 'Uncaught boom',
      lineNumber: 2,
      lineContents: '  throw [[[["boom"]]]];',
      extra: 'boom',
    });
  });

  test('carry the properties of an error', async () => {
    const source = 'throw Object.assign(new Error("no"), {code: 7})';
    expect(await exceptionOf(run(sharedSandbox(), source))).toMatchObject({ extra: { code: 7 } });
  });

  test('of programs that do not compile say so', async () => {
    const exception = await exceptionOf(run(sharedSandbox(), 'var a;\nlet b = [1, 2;'));
    expect(exception).toMatchObject({ lineNumber: 2, context: ['Compiling plugin script'] });
    expect(exception.message).toMatch(/^Uncaught SyntaxError: /);
  });

  test('of a rejected promise are those of the program', async () => {
    const exception = await exceptionOf(run(sharedSandbox(), 'Promise.reject(new Error("late"))'));
    expect(exception.message).toBe('Uncaught Error: late');
  });

  test('end recursion without end', async () => {
    const sandbox = sharedSandbox();
    const exception = await exceptionOf(run(sandbox, 'function f() { return f() + 1 } f()'));
    expect(exception.message).toContain('stack overflow');
    expect(await resultOf(run(sandbox, '1'))).toBe(1);
  });
});

describe('limits', () => {
  test('an endless loop ends with its time', async () => {
    const sandbox = sharedSandbox();
    for (const source of [
      'while (true) {}',
      'try { while (true) {} } catch (e) {} finally { while (true) {} }',
      'Promise.resolve().then(() => { while (true) {} })',
      'Promise.resolve().then(() => { while (true) {} }).catch(() => 1)',
      'Promise.resolve().then(() => { while (true) {} }); 1',
      'const again = () => Promise.resolve().then(again); again(); 1',
      'const again = () => Promise.resolve().then(again); again()',
      'const both = () => { queue(both); queue(both); }; const queue = (f) => Promise.resolve().then(f); both(); 1',
      '/(a+)+b/.test("a".repeat(40))',
    ]) {
      const error = await failureOf(run(sandbox, source, { timeLimitMs: 100 }));
      expect([source, error.httpCode, error.code]).toEqual([source, 504, 'TIMEOUT']);
    }
    expect(await resultOf(run(sandbox, '1 + 1'))).toBe(2);
  });

  test('what cannot be interrupted loses its worker', async () => {
    const sandbox = makeSandbox();
    const error = await failureOf(run(sandbox, UNINTERRUPTIBLE, { timeLimitMs: 50 }));
    expect(error.code).toBe('TIMEOUT');
    expect(sandbox.isAlive).toBe(false);
  });

  test('a memory bomb ends with its memory', async () => {
    for (const source of [
      'var a = []; while (true) a.push("x".repeat(1000) + a.length)',
      'var m = new Map(); for (let i = 0; ; i++) m.set(i, {i})',
      'new Uint8Array(1e9)',
    ]) {
      const error = await failureOf(run(makeSandbox(), source));
      expect([source, error.httpCode, error.code]).toEqual([source, 400, 'OUT_OF_MEMORY']);
      expect(error.message).toMatch(/^Out of memory/);
    }
  });

  test('a script whose memory the engine cannot free ends as any other', async () => {
    const sandbox = makeSandbox();
    // Each promise is resolved by the next one.
    const source =
      'let n = 0; const next = () => (++n < 40000 ? Promise.resolve().then(next) : n); next()';
    expect(await resultOf(run(sandbox, source))).toBe(40000);
    expect(await resultOf(run(sandbox, '3'))).toBe(3);
    expect([sandbox.isAlive, sandbox.isSpent]).toEqual([true, true]);
  });

  test('a script that is cancelled stops', async () => {
    const sandbox = sharedSandbox();
    const abort = new AbortController();
    const running = failureOf(run(sandbox, 'while (true) {}', { signal: abort.signal }));
    setTimeout(() => abort.abort(), 50);
    expect((await running).code).toBe('CANCELLED');
    expect(await resultOf(run(sandbox, '3'))).toBe(3);
  });

  test('time counts while the service is asked', async () => {
    const host = makeHost(() => new Promise(() => {}));
    const error = await failureOf(
      run(makeSandbox(), 'mldb.get("/slow")', { host, timeLimitMs: 100 }),
    );
    expect(error.code).toBe('TIMEOUT');
  });
});

describe('calls sent together', () => {
  /** Runs in order in one realm, so that each call sees what those before it have done. */
  async function plugin(source: string, callOptions: Partial<CallOptions> = {}) {
    const sandbox = makeSandbox();
    const program = { source, uri: 'test.js', args: undefined };
    await sandbox.call('plugin', program, { host: makeHost(), ...callOptions });
    const request = (path: string, given: Partial<CallOptions> = {}) => {
      const text = JSON.stringify({ relpath: path, params: [], headers: {} });
      return sandbox.call('request', text, { host: makeHost(), ...given });
    };
    return { sandbox, request };
  }

  async function bodyOf(outcome: Promise<Outcome<string>>): Promise<unknown> {
    const settled = await outcome;
    if ('exception' in settled) throw new Error(settled.exception.message);
    return JSON.parse(JSON.parse(settled.result).body);
  }

  /** `seen` holds the paths of the requests that have begun. */
  const SEEN = `const seen = [];
    const spin = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
    plugin.setRequestHandler((path) => {
      seen.push(path);
      if (path === 'loop') for (;;);
      if (path === 'hang') ${UNINTERRUPTIBLE};
      if (path === 'bomb') { const a = []; for (;;) a.push('x'.repeat(1000) + a.length); }
      if (path === 'ask') mldb.ls('x');
      if (path.startsWith('spin')) spin(Number(path.slice(4)));
      if (path.startsWith('size')) return 'é'.repeat(Number(path.slice(4)));
      return seen;
    });`;

  test('are served in order, more of them than are sent ahead', async () => {
    const { request } = await plugin(SEEN);
    const paths = Array.from({ length: 100 }, (_, index) => String(index));
    const ends: string[] = [];
    const bodies = await Promise.all(
      paths.map(async (path) => {
        const body = await bodyOf(request(path));
        ends.push(path);
        return body;
      }),
    );
    expect(bodies.at(-1)).toEqual(paths);
    expect(ends).toEqual(paths);
  });

  test('give replies of any size', async () => {
    const { request } = await plugin(SEEN);
    const sizes = [0, 1000, 1300, 1340, 1400, 5000, 300_000];
    const bodies = await Promise.all(sizes.map((size) => bodyOf(request(`size${size}`))));
    expect(bodies).toEqual(sizes.map((size) => 'é'.repeat(size)));
  });

  test('each have the whole of their time', async () => {
    const { request } = await plugin(SEEN);
    const spins = Array.from({ length: 5 }, () => bodyOf(request('spin80', { timeLimitMs: 200 })));
    const looping = failureOf(request('loop', { timeLimitMs: 200 }));
    expect(await Promise.all(spins)).toHaveLength(5);
    expect((await looping).code).toBe('TIMEOUT');
    expect(await bodyOf(request('after'))).toContain('after');
  });

  test('do not begin when they were cancelled before', async () => {
    const { request } = await plugin(SEEN);
    const abort = new AbortController();
    const first = bodyOf(request('spin300'));
    const sent = failureOf(request('sent', { signal: abort.signal }));
    const late = failureOf(request('late', { signal: () => abort.signal }));
    const others = Array.from({ length: 40 }, (_, index) => bodyOf(request(String(index))));
    const waiting = failureOf(request('waiting', { signal: abort.signal }));
    setTimeout(() => abort.abort(), 100);
    let isFirstDone = false;
    void first.then(() => {
      isFirstDone = true;
    });
    const failures = await Promise.all([sent, late, waiting]);
    expect(isFirstDone).toBe(false);
    expect(failures.map(({ code }) => code)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);
    await first;
    await Promise.all(others);
    const seen = await bodyOf(request('end'));
    expect(seen).toHaveLength(42);
    expect(seen).not.toContain('sent');
    expect(seen).not.toContain('late');
    expect(seen).not.toContain('waiting');
  });

  test('stop when they are cancelled by a signal that is made late', async () => {
    const { request } = await plugin(SEEN);
    const abort = new AbortController();
    const looping = failureOf(request('loop', { signal: () => abort.signal }));
    const next = bodyOf(request('next'));
    setTimeout(() => abort.abort(), 50);
    expect((await looping).code).toBe('CANCELLED');
    expect(await next).toEqual(['loop', 'next']);
  });

  test('are answered while the one after them computes', async () => {
    for (const path of ['loop', 'hang']) {
      const { request } = await plugin(SEEN);
      const first = bodyOf(request('first'));
      const busy = failureOf(request(path, { timeLimitMs: 1000 }));
      let isBusyDone = false;
      void busy.then(() => {
        isBusyDone = true;
      });
      expect(await first).toEqual(['first']);
      expect(isBusyDone).toBe(false);
      expect((await busy).code).toBe('TIMEOUT');
    }
  });

  test('that have not begun are known when the sandbox ends', async () => {
    const { sandbox, request } = await plugin(SEEN);
    const first = bodyOf(request('first'));
    const hanging = failureOf(request('hang', { timeLimitMs: 50 }));
    const others = Array.from({ length: 40 }, (_, index) => failureOf(request(String(index))));
    expect(await first).toEqual(['first']);
    expect((await hanging).code).toBe('TIMEOUT');
    expect(sandbox.isAlive).toBe(false);
    expect((await Promise.all(others)).every(wasNeverBegun)).toBe(true);
    expect(wasNeverBegun(await hanging)).toBe(false);
  });

  test('are not harmed by a memory bomb among them', async () => {
    const { request } = await plugin(SEEN);
    const before = bodyOf(request('before'));
    const bomb = failureOf(request('bomb'));
    const after = bodyOf(request('after'));
    expect(await before).toEqual(['before']);
    expect((await bomb).code).toBe('OUT_OF_MEMORY');
    expect(await after).toEqual(['before', 'bomb', 'after']);
  });

  test('wait for one that asks the service', async () => {
    const { request } = await plugin(SEEN);
    const host = makeHost(async () => {
      await new Promise((resolve) => setTimeout(resolve, 50));
      return null;
    });
    const asking = bodyOf(request('ask', { host }));
    const others = ['a', 'b'].map((path) => bodyOf(request(path)));
    expect(await asking).toEqual(['ask']);
    expect(await Promise.all(others)).toEqual([
      ['ask', 'a'],
      ['ask', 'a', 'b'],
    ]);
  });

  test('begin early when one that they cannot be seen to belong to waits for them', async () => {
    const { request } = await plugin(SEEN);
    let other: Promise<unknown> | undefined;
    const host = makeHost(async () => {
      await other;
      return null;
    });
    const asking = bodyOf(request('ask', { host }));
    other = bodyOf(request('other'));
    expect(await other).toEqual(['ask', 'other']);
    expect(await asking).toEqual(['ask', 'other']);
  });
});

describe('questions to the service', () => {
  test('block the script until they are answered', async () => {
    const host = makeHost(async (name, argument) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const { verb, resource } = JSON.parse(argument);
      return {
        responseCode: 200,
        contentType: 'application/json',
        response: JSON.stringify([name, verb, resource]),
      };
    });
    const outcome = run(sharedSandbox(), 'mldb.get("/a").json.concat(mldb.del("/b").json)', {
      host,
    });
    expect(await resultOf(outcome)).toEqual(['perform', 'GET', '/a', 'perform', 'DELETE', '/b']);
  });

  test('that fail are exceptions of the script', async () => {
    const host = makeHost(async () => {
      throw new RowanError('ENTITY_NOT_FOUND', 404, 'no such thing', { id: 'x' });
    });
    const source =
      'try { mldb.ls("mem://") } catch (e) { [e instanceof Error, e.message, e.httpCode, e.details.id] }';
    expect(await resultOf(run(sharedSandbox(), source, { host }))).toEqual([
      true,
      'no such thing',
      404,
      'x',
    ]);
  });

  test('may lead back into the same sandbox, several times', async () => {
    const sandbox = sharedSandbox();
    const plain = makeHost();
    const host: CallHost = makeHost(async (_name, argument) => {
      const depth = Number(JSON.parse(argument).resource);
      const source = depth === 0 ? '"bottom"' : `mldb.get("${depth - 1}").response`;
      const inner = await run(sandbox, source, { host: depth === 0 ? plain : host });
      return {
        responseCode: 200,
        contentType: 'text/plain',
        response: 'result' in inner ? inner.result : 'thrown',
      };
    });
    const text = await resultOf(run(sandbox, 'mldb.get("3").response', { host }));
    expect(text).toContain('bottom');
  });

  test('leave other calls waiting in line', async () => {
    const sandbox = sharedSandbox();
    const order: string[] = [];
    const host = makeHost(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      order.push('answered');
      return null;
    });
    const first = run(sandbox, 'mldb.ls("x"); 1', { host }).then(() => order.push('first'));
    const second = run(sandbox, '2').then(() => order.push('second'));
    await Promise.all([first, second]);
    expect(order).toEqual(['answered', 'first', 'second']);
  });
});

describe('functions of queries', () => {
  type Calls = SandboxTasks['calls']['args']['calls'];
  const number = (value: number) => ({ kind: 'scalar', atom: value, ts: 0 }) as const;

  async function call(sandbox: Sandbox, source: string, parameters: string[], calls: Calls) {
    const kind: SandboxTaskKind = 'calls';
    const args = { function: { source, parameters }, calls };
    const outcome = await sandbox.call(kind, args, { host: makeHost() });
    if ('exception' in outcome) throw new Error(outcome.exception.message);
    return outcome.result;
  }

  test('are called for each list of arguments', async () => {
    const results = await call(sharedSandbox(), 'return a * 2', ['a'], [[number(1)], [number(4)]]);
    expect(results).toMatchObject([{ atom: 2 }, { atom: 8 }]);
  });

  test('share no variables between calls', async () => {
    const sandbox = sharedSandbox();
    const source =
      'if (typeof n === "undefined") n = 0; n++; this.seen = (this.seen || 0) + 1; return n + "/" + (this.seen)';
    const calls: Calls = [[], [], []];
    const results = await call(sandbox, source, [], calls);
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1);
  });

  test('may assign variables that they do not declare', async () => {
    const source = 's = 0; for (i = 0; i < 4; i++) s += i; return s';
    expect(await call(sharedSandbox(), source, [], [[]])).toMatchObject([{ atom: 6 }]);
  });

  test('see and give every kind of value', async () => {
    const sandbox = sharedSandbox();
    const echo = async (atom: unknown) => {
      const wire = { kind: 'scalar', atom, ts: 0 } as Calls[number][number];
      const [result] = await call(sandbox, 'return v', ['v'], [[wire]]);
      return (result as { atom: unknown }).atom;
    };
    for (const atom of [null, 1.5, -0.25, 'text', 2n ** 60n, Infinity, NaN, { seconds: 1.5 }]) {
      expect(await echo(atom)).toEqual(atom);
    }
    expect(await echo(Uint8Array.of(0, 65, 66, 255))).toEqual(Uint8Array.of(0, 65, 66, 255));
    expect(await echo({ path: ['a', 'b.c'] })).toEqual({ path: ['a', 'b.c'] });
    const interval = { months: 1, days: 2, seconds: 3, negative: false };
    expect(await echo(interval)).toEqual(interval);
  });
});

describe('a pool', () => {
  test('gives scripts that wait for other scripts the sandboxes that they need', async () => {
    const pool = new SandboxPool({ ...options, computingCountMax: 1 });
    open.push(pool);
    const host: CallHost = makeHost(async (_name, argument) => {
      const depth = Number(JSON.parse(argument).resource);
      if (depth === 0) return { responseCode: 200, response: 'end' };
      await run(pool, `mldb.get("${depth - 1}")`, { host });
      return { responseCode: 200, response: 'back' };
    });
    expect(await resultOf(run(pool, 'mldb.get("3").response', { host }))).toBe('back');
  });

  test('replaces a sandbox that it has lost', async () => {
    const pool = new SandboxPool({ ...options, computingCountMax: 1 });
    open.push(pool);
    await failureOf(run(pool, UNINTERRUPTIBLE, { timeLimitMs: 50 }));
    expect(await resultOf(run(pool, '5'))).toBe(5);
  });
});
