// Lines give what single calls give, in ASCII or not, in slices of any length.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinNamespace } from '../../../src/builtin/index.ts';
import { applyJson } from '../../../src/function/apply-json.ts';
import type { CompiledFunction } from '../../../src/function/function-type.ts';
import { LineApplier } from '../../../src/function/line-applier.ts';
import { sqlExpression } from '../../../src/function/sql-expression.ts';
import { parseJson } from '../../../src/util/exact-json.ts';

const scope = { checkCancelled() {}, host: undefined };
const namespace = {
  dataset(name: string): never {
    throw new Error(`no dataset ${name}`);
  },
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};

function compile(expression: string, autoInput: boolean): CompiledFunction {
  const params = { expression, raw: autoInput, autoInput, prepared: true };
  return sqlExpression.compile(params, { namespace, callScope: scope } as never);
}

/** Runs one slice after the other, each over at once. */
function answer(compiled: CompiledFunction, text: string): string[] {
  const block = new TextEncoder().encode(text);
  const applier = new LineApplier(compiled, block, { scope, ts: 3, firstLine: 1 });
  let out = '';
  while (!applier.isDone) out += Buffer.concat(applier.run(0)).toString();
  return out.split('\n').slice(0, -1);
}

const json = fc.oneof(
  fc.array(fc.integer({ min: -9, max: 9 })),
  fc.array(fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null))),
  fc.integer(),
  fc.constant(null),
  fc.record({ a: fc.integer() }),
);

describe('lines', () => {
  test('of any input are answered as single calls are', () => {
    const total = compile('horizontal_sum(input)', true);
    fc.assert(
      fc.property(fc.array(json, { maxLength: 80 }), (inputs) => {
        const lines = inputs.map((input) => JSON.stringify(input));
        expect(answer(total, lines.join('\n'))).toEqual(
          lines.map((line) => applyJson(total, parseJson(line), 3, scope)),
        );
      }),
    );
  });

  test('of objects are answered as single calls are', () => {
    const pair = compile('x AS a, y AS b', false);
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('1'.repeat(20)));
    const number = fc.oneof(fc.integer(), fc.constantFrom('12345678901234567', '1e999'));
    const line = fc
      .tuple(number, text)
      .map(([x, y]) => `{"x":${x},"y":${JSON.stringify(y)},"__proto__":1}`);
    fc.assert(
      fc.property(fc.array(fc.oneof(line, fc.constant('{"x":1}')), { maxLength: 70 }), (lines) => {
        expect(answer(pair, `${lines.join('\n')}\n`)).toEqual(
          lines.map((one) => applyJson(pair, parseJson(one), 3, scope)),
        );
      }),
    );
  });

  test('that are not text fail before any is answered', () => {
    const total = compile('horizontal_sum(input)', true);
    const block = Uint8Array.from([0x5b, 0x5d, 0x0a, 0xff]);
    const applier = new LineApplier(total, block, { scope, ts: 3, firstLine: 5 });
    const out = Buffer.concat(applier.run(0)).toString();
    expect(JSON.parse(out)).toMatchObject({ code: 'INVALID_JSON', line: 5 });
    expect([applier.isDone, applier.hasFailed]).toEqual([true, true]);
  });
});
