// Applications answer the same whether or not the function has a short way.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinNamespace } from '../../../../../src/builtin/index.ts';
import type {
  CompiledFunction,
  FunctionContext,
} from '../../../../../src/function/function-type.ts';
import { sqlExpression } from '../../../../../src/function/sql-expression.ts';
import { applyFunction } from '../../../../../src/service/engine/task/function.ts';
import { errorBody } from '../../../../../src/util/error.ts';

const callScope = { checkCancelled() {}, host: undefined };

function compile(expression: string, options: object): CompiledFunction {
  const namespace = { builtins: builtinNamespace, findUserFunction: () => undefined };
  const scope = { namespace, callScope } as unknown as FunctionContext;
  const params = { expression, prepared: true, raw: false, autoInput: false, ...options };
  return sqlExpression.compile(params, scope);
}

function answer(compiled: CompiledFunction, application: Parameters<typeof applyFunction>[1]) {
  try {
    return applyFunction(compiled, application, callScope);
  } catch (thrown) {
    return errorBody(thrown).error;
  }
}

const atom = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.boolean(), fc.constant(null));
const input = fc.oneof(
  fc.record({ x: fc.oneof(atom, fc.array(atom)), y: atom }, { requiredKeys: [] }),
  fc.record({ x: fc.record({ a: atom }) }),
  fc.array(atom),
  atom,
);

describe('an application', () => {
  test.each([
    ['x * 2 + 1 AS y', {}],
    ['y AS b, x AS a', {}],
    ['x AS "0", y AS "1"', {}],
    ['horizontal_sum(x) AS s', {}],
    ['x', { raw: true }],
    ['horizontal_sum(x)', { raw: true, autoInput: true }],
  ])('of %s with %j', (expression, options) => {
    const short = compile(expression, options);
    const { plainCalls: _, ...long } = short;
    fc.assert(
      fc.property(
        input,
        fc.constantFrom('compat', 'json', 'dated'),
        fc.constantFrom<string[]>([], ['y']),
        (json, format, keepValues) => {
          const application = { input: json, format, keepValues };
          expect(answer(short, application)).toBe(answer(long, application));
        },
      ),
    );
  });
});
