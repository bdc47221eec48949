// What is known about an expression before anything runs.
import type { BoundArgument, ValueFunction } from '../plan/function.ts';
import { OPEN_ROW_TYPE, type ValueType } from '../plan/type/type.ts';
import { knownColumns, typeInfo } from '../plan/type/type-info.ts';
import type { Atom } from '../value/atom.ts';
import { MINUS_INFINITY } from '../value/timestamp.ts';
import { constant, Embedding, sortedRow, type Value } from '../value/value.ts';
import { truthAtom } from './conversion.ts';
import { family, INTEGER_TYPE, parameter } from './declare.ts';

const { value } = family('introspection');

const EXPRESSION = parameter('x', 'any expression; it is not evaluated');

interface StaticOptions extends Pick<ValueFunction, 'name' | 'summary' | 'examples'> {
  readonly result: ValueType;
  readonly describe: (argument: BoundArgument) => Value;
}

/** A function of what is known about its argument. */
function staticFunction({ describe, ...documentation }: StaticOptions): ValueFunction {
  return value({
    ...documentation,
    parameters: [EXPRESSION],
    nulls: 'handle',
    timestamps: 'constant',
    bind: ([argument]) => {
      const description = describe(argument as BoundArgument);
      return () => description;
    },
  });
}

export const introspectionFunctions: readonly ValueFunction[] = [
  staticFunction({
    name: 'static_type',
    summary: 'The static type of an expression: kind, isConstant, and what its kind has.',
    examples: [
      ['static_type(5)[kind]', '"scalar"'],
      ['print_json(static_type([1, 2])[shape])', '"[2]"'],
    ],
    result: OPEN_ROW_TYPE,
    describe: describeType,
  }),
  staticFunction({
    name: 'static_expression_info',
    summary: 'The text of an expression as expr, and its static type as info.',
    examples: [['static_expression_info(1 + 2)[expr]', '"1 + 2"']],
    result: OPEN_ROW_TYPE,
    describe: (argument) =>
      sortedRow(['expr', 'info'], [constant(argument.surface), describeType(argument)]),
  }),
  staticFunction({
    name: 'static_known_columns',
    summary:
      'The columns that an expression is known to have: columnName, offset, sparsity, valueInfo.',
    examples: [['static_known_columns({a: 1})["0".columnName]', '"a"']],
    result: OPEN_ROW_TYPE,
    describe: ({ type }) =>
      valueOfJson(knownColumns(type).map((column, offset) => ({ ...column, offset }))),
  }),
  staticFunction({
    name: '__isconst',
    summary: '1 when an expression is known to be constant, else 0.',
    examples: [
      ['__isconst(1 + 2)', '1'],
      ['__isconst(now())', '0'],
    ],
    result: INTEGER_TYPE,
    describe: (argument) => constant(truthAtom(argument.constant !== undefined)),
  }),
];

function describeType({ type, constant: known }: BoundArgument): Value {
  return valueOfJson({ kind: 'any', ...typeInfo(type, known !== undefined) });
}

/** Lists of atoms are embeddings, other lists and objects rows. */
function valueOfJson(json: unknown): Value {
  if (typeof json !== 'object' || json === null) return constant(atomOfJson(json));
  if (
    Array.isArray(json) &&
    json.length > 0 &&
    json.every((element) => typeof element !== 'object')
  ) {
    return new Embedding([json.length], json.map(atomOfJson), MINUS_INFINITY);
  }
  const members = Object.entries(json);
  return sortedRow(
    members.map(([name]) => name),
    members.map(([, member]) => valueOfJson(member)),
  );
}

function atomOfJson(json: unknown): Atom {
  return typeof json === 'boolean' ? truthAtom(json) : (json as Atom);
}
