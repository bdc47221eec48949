// Whatever a builtin is given, it gives a canonical value or an error that a caller can read.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BUILTIN_FUNCTIONS, builtinNamespace } from '../../../src/builtin/index.ts';
import { queryRows } from '../../../src/exec/query.ts';
import type { FunctionDeclaration } from '../../../src/plan/function.ts';
import type { RelationRow } from '../../../src/plan/namespace.ts';
import { arityOf } from '../../../src/plan/type/arity.ts';
import { RowanError } from '../../../src/util/error.ts';
import { parseJson } from '../../../src/util/exact-json.ts';
import { type Atom, normalizeInteger } from '../../../src/value/atom.ts';
import { atomToJsonText } from '../../../src/value/json.ts';
import { flatten } from '../../../src/value/value.ts';
import { arbitraryAtom } from '../../support/atoms.ts';
import { MemoryNamespace, NO_CONTEXT } from '../../support/memory-namespace.ts';

const COLUMNS = ['a', 'b', 'c', 'd'];

const extreme = fc.constantFrom<Atom>(
  0,
  1,
  -1,
  0.5,
  -0.5,
  1e308,
  -1e308,
  5e-324,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2n ** 64n - 1n,
  2n ** 63n,
  -(2n ** 63n),
  2n ** 53n + 1n,
  null,
);
const atom = fc.oneof({ weight: 3, arbitrary: extreme }, arbitraryAtom);
const rows = fc.array(fc.tuple(atom, atom, atom, atom), { minLength: 8, maxLength: 12 });

/** Atoms, rows and embeddings of several lengths and shapes. */
const argument = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(...COLUMNS) },
  fc.constantFrom(
    '{a, b}',
    '{}',
    '[a, b]',
    '[a, b, c]',
    '[[a, b], [c, d]]',
    '[]',
    '{x: {y: a}, z: [b, c]}',
    "'%Y'",
    "'['",
    '2',
    '{*}',
  ),
);

function canonicalProblem(value: Atom): string | undefined {
  if (typeof value === 'number' && Object.is(value, -0)) return 'is -0';
  if (typeof value === 'bigint' && normalizeInteger(value) !== value) {
    return 'is a bigint that is no canonical integer';
  }
  return undefined;
}

function problemsOf(result: Iterable<RelationRow>): string[] {
  const problems: string[] = [];
  for (const { row } of result) {
    flatten(row, [], (path, value, ts) => {
      const problem = canonicalProblem(value);
      if (problem !== undefined) problems.push(`${path} ${problem}`);
      if (typeof ts !== 'number' || Object.is(ts, -0)) problems.push(`${path} has the time ${ts}`);
    });
  }
  return problems;
}

function check(declaration: FunctionDeclaration, args: readonly string[], data: Atom[][]): void {
  const call = `${declaration.name}(${args.join(', ')})`;
  const namespace = new MemoryNamespace(builtinNamespace);
  namespace.add(
    'd',
    data.map((atoms, index) => [
      `r${index}`,
      COLUMNS.map((column, i) => [column, parseJson(atomToJsonText(atoms[i] as Atom)), i] as const),
    ]),
  );
  // Rows that fail do not hide the others; aggregates fail as a whole.
  const selected = declaration.kind === 'aggregate' ? call : `try(${call}, 'failed')`;
  try {
    const options = { namespace, scope: NO_CONTEXT };
    expect(problemsOf(queryRows(`SELECT ${selected} AS v FROM d`, options)), call).toEqual([]);
  } catch (error) {
    if (!(error instanceof RowanError)) throw error;
    expect(error.code, call).not.toBe('INTERNAL');
    expect(error.httpCode, call).toBeLessThan(500);
    expect(error.message, call).not.toMatch(/undefined|\[object|NaN of/);
  }
}

describe('whatever it is given', () => {
  for (const declaration of BUILTIN_FUNCTIONS) {
    it(`${declaration.name} gives a canonical value or an error`, () => {
      const { min, max } = arityOf(declaration.parameters);
      const args = fc.array(argument, { minLength: min, maxLength: Math.min(max, min + 2, 6) });
      fc.assert(
        fc.property(args, rows, (args, data) => check(declaration, args, data)),
        { numRuns: 25 },
      );
    });
  }
});
