// Generated code must give what the general evaluator gives, for every expression and every atom.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Frame } from '../../../../src/exec/general/frame.ts';
import { makeCompiler } from '../../../../src/exec/general/plan.ts';
import { makeRuntime } from '../../../../src/exec/general/runtime.ts';
import { compileScalar } from '../../../../src/exec/scalar/compile.ts';
import { scalarPredicate } from '../../../../src/exec/scalar/predicate.ts';
import { bindSingleExpression } from '../../../../src/plan/bind/bind.ts';
import type { BoundExpression } from '../../../../src/plan/expression.ts';
import { InputScope } from '../../../../src/plan/scope/scope.ts';
import { OPEN_ROW_TYPE } from '../../../../src/plan/type/type.ts';
import { parseExpression } from '../../../../src/sql/parser/parser.ts';
import { RowanError } from '../../../../src/util/error.ts';
import { type Atom, compareAtoms } from '../../../../src/value/atom.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { Row, Scalar } from '../../../../src/value/value.ts';
import { arbitraryAtom } from '../../../support/atoms.ts';
import { FEW_FUNCTIONS } from '../../../support/few-functions.ts';
import { MemoryNamespace, NO_CONTEXT } from '../../../support/memory-namespace.ts';

const namespace = new MemoryNamespace(FEW_FUNCTIONS);
const compiler = makeCompiler(makeRuntime([], { namespace, scope: NO_CONTEXT }), () => []);

/** Bound without folding, so that generated code meets the constants. */
function bind(text: string): BoundExpression {
  return bindSingleExpression(parseExpression(text), text, new InputScope(OPEN_ROW_TYPE), {
    namespace,
    evaluate() {
      throw new Error('not folded');
    },
  }).expression;
}

const leaf = fc.constantFrom(
  'x',
  'y',
  'z',
  'null',
  '0',
  '1',
  '2.5',
  '-3',
  "''",
  "'a'",
  "'%b_'",
  '1e300',
  "INTERVAL '1d'",
);

const { expression } = fc.letrec<{ expression: string; deeper: string }>((tie) => ({
  expression: fc.oneof({ maxDepth: 4, depthSize: 'medium' }, leaf, tie('deeper')),
  deeper: fc.oneof(
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('+', '-', '*', '/', '%', '&', '|', '=', '!=', '<', '<=', '>', '>='),
        tie('expression'),
      )
      .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    fc
      .tuple(tie('expression'), fc.constantFrom('AND', 'OR'), tie('expression'))
      .map(([a, operator, b]) => `(${a} ${operator} ${b})`),
    fc
      .tuple(fc.constantFrom('NOT', '-', '~', '+', 'TIMESTAMP'), tie('expression'))
      .map(([operator, a]) => `(${operator} ${a})`),
    fc
      .tuple(
        tie('expression'),
        fc.constantFrom('NULL', 'TRUE', 'FALSE', 'STRING', 'NUMBER', 'INTEGER', 'TIMESTAMP'),
        fc.boolean(),
      )
      .map(([a, test, negated]) => `((${a}) IS ${negated ? 'NOT ' : ''}${test})`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'), fc.boolean())
      .map(([a, b, c, negated]) => `((${a}) ${negated ? 'NOT ' : ''}BETWEEN (${b}) AND (${c}))`),
    fc
      .tuple(tie('expression'), fc.boolean())
      .map(([a, negated]) => `((${a}) ${negated ? 'NOT ' : ''}IN (1, 'a', null, 2.5))`),
    fc.tuple(tie('expression'), tie('expression')).map(([a, b]) => `((${a}) LIKE (${b}))`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'))
      .map(([a, b, c]) => `(CASE WHEN ${a} THEN ${b} ELSE ${c} END)`),
    fc
      .tuple(tie('expression'), tie('expression'), tie('expression'), tie('expression'))
      .map(([a, b, c, d]) => `(CASE ${a} WHEN ${b} THEN ${c} WHEN 1 THEN ${d} END)`),
    fc
      .tuple(tie('expression'), fc.constantFrom('string', 'number', 'integer', 'boolean'))
      .map(([a, type]) => `CAST(${a} AS ${type})`),
    tie('expression').map((a) => `upper(${a})`),
  ),
}));

type Outcome = { readonly atom: Atom } | { readonly error: string };

function attempt(evaluate: () => Atom): Outcome {
  try {
    return { atom: evaluate() };
  } catch (error) {
    if (error instanceof RowanError) return { error: error.message };
    throw error;
  }
}

function same(a: Outcome, b: Outcome): boolean {
  if ('error' in a || 'error' in b) return 'error' in a && 'error' in b && a.error === b.error;
  return compareAtoms(a.atom, b.atom) === 0 && !Object.is(b.atom, -0);
}

const RUN_COUNT = 1500;

describe('generated code', () => {
  it('gives what the general evaluator gives', () => {
    let compiledCount = 0;
    fc.assert(
      fc.property(expression, arbitraryAtom, arbitraryAtom, arbitraryAtom, (text, ...atoms) => {
        const bound = bind(text);
        const program = compileScalar(bound, FEW_FUNCTIONS);
        if (program === undefined) {
          // Times beside texts are compared as times, which is left to the general evaluator.
          if (text.includes('TIMESTAMP')) return;
          throw new Error(`no program for ${text}`);
        }
        compiledCount++;
        const values = new Map(['x', 'y', 'z'].map((name, i) => [name, atoms[i] as Atom]));
        const general = attempt(() => {
          const frame = new Frame();
          frame.row = new Row(
            [...values.keys()],
            [...values.values()].map((atom) => new Scalar(atom, 0)),
          );
          return (compiler.evaluator(bound)(frame) as Scalar).atom;
        });
        const generated = attempt(() =>
          program.evaluate(program.columns.map(([name]) => values.get(name as string) ?? null)),
        );
        expect(same(general, generated), text).toBe(true);
      }),
      { numRuns: RUN_COUNT },
    );
    expect(compiledCount).toBeGreaterThan(RUN_COUNT * 0.9);
  });

  it('compares a time with a text as a time, in CASE too', () => {
    const program = compileScalar(
      bind("CASE x WHEN '1970-01-01' THEN 1 ELSE 0 END"),
      FEW_FUNCTIONS,
    );
    expect(program?.evaluate([new Timestamp(0)])).toBe(1);
    expect(program?.evaluate([new Timestamp(1)])).toBe(0);
  });

  it('is shared by expressions that differ in constants', () => {
    const [a, b] = ["x LIKE 'a%'", "x LIKE 'b%'"].map((text) =>
      compileScalar(bind(text), FEW_FUNCTIONS),
    );
    expect(a?.evaluate(['ab'])).toBe(1);
    expect(b?.evaluate(['ab'])).toBe(0);
    expect(String(a?.evaluate)).toBe(String(b?.evaluate));
  });

  it.each(['{x} = {y}', 'rowName()', 'width(x)', 'x IN (KEYS OF y)', 'try(x, 1)', 'x[y]'])(
    'is not made for %s',
    (text) => {
      const bound = text === 'rowName()' ? rowName() : bind(text);
      expect(compileScalar(bound, FEW_FUNCTIONS)).toBeUndefined();
    },
  );

  it('leaves cells that are no single atom to the general evaluator', () => {
    const bound = bind('x = 2');
    const program = compileScalar(bound, FEW_FUNCTIONS);
    if (program === undefined) throw new Error('no program');
    const test = scalarPredicate(program, compiler.predicate(bound));
    const frame = new Frame();
    const passes = (...points: Scalar[]) => {
      frame.row = new Row(
        points.map(() => 'x'),
        points,
      );
      return test?.(frame);
    };
    expect(passes(new Scalar(2, 0))).toBe(true);
    expect(passes(new Scalar(2, 0), new Scalar(3, 1))).toBe(false);
    expect(passes(new Scalar(3, 0), new Scalar(2, 1))).toBe(true);
    expect(passes()).toBe(false);
  });
});

function rowName(): BoundExpression {
  return {
    kind: 'row-function',
    function: 'rowName',
    side: [],
    arg: undefined,
    type: OPEN_ROW_TYPE,
    start: 0,
    end: 0,
  };
}
