// What is known about an expression before anything runs.
import type { BoundArgument, ValueFunction } from '../plan/function.ts';
import { OPEN_ROW_TYPE, typeName, type ValueType } from '../plan/type.ts';
import type { Atom } from '../value/atom.ts';
import { MINUS_INFINITY } from '../value/timestamp.ts';
import { constant, Embedding, Row, sortedRow, type Value } from '../value/value.ts';
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
      rowOf({ expr: constant(argument.surface), info: describeType(argument) }),
  }),
  staticFunction({
    name: 'static_known_columns',
    summary:
      'The columns that an expression is known to have: columnName, offset, sparsity, valueInfo.',
    examples: [['static_known_columns({a: 1})["0".columnName]', '"a"']],
    result: OPEN_ROW_TYPE,
    describe: ({ type }) =>
      indexedRow(
        knownColumns(type).map(([name, member], index) =>
          rowOf({
            columnName: constant(name),
            offset: constant(index),
            sparsity: constant(type.kind === 'row' && type.open ? 'sparse' : 'dense'),
            valueInfo: typeRow(member),
          }),
        ),
      ),
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

function describeType(argument: BoundArgument): Row {
  const isConstant = constant(truthAtom(argument.constant !== undefined));
  return rowOf({ ...typeMembers(argument.type), isConstant });
}

function typeRow(type: ValueType): Row {
  return rowOf(typeMembers(type));
}

function typeMembers(type: ValueType): Record<string, Value> {
  switch (type.kind) {
    case 'atom':
      return { kind: constant('scalar'), scalar: constant(type.atom), type: typeText(type) };
    case 'embedding': {
      const shape = type.shape === undefined ? {} : { shape: vectorOf(type.shape) };
      return { kind: constant('embedding'), ...shape, type: typeText(type) };
    }
    case 'row': {
      const columns = type.members.map(({ name }) => name);
      return { kind: constant('row'), knownColumns: vectorOf(columns), type: typeText(type) };
    }
    case 'any':
      return { kind: constant('any'), type: typeText(type) };
  }
}

function typeText(type: ValueType): Value {
  return constant(typeName(type));
}

function knownColumns(type: ValueType): (readonly [name: string, type: ValueType])[] {
  if (type.kind === 'row') return type.members.map(({ name, type: member }) => [name, member]);
  const [size, ...inner] = type.kind === 'embedding' ? (type.shape ?? []) : [];
  if (type.kind !== 'embedding' || size === undefined || size < 0) return [];
  const member: ValueType =
    inner.length === 0
      ? { kind: 'atom', atom: type.element }
      : { kind: 'embedding', shape: inner, element: type.element };
  return Array.from({ length: size }, (_, index) => [String(index), member]);
}

function vectorOf(atoms: readonly Atom[]): Embedding {
  return new Embedding([atoms.length], atoms, MINUS_INFINITY);
}

function rowOf(members: Record<string, Value>): Row {
  return sortedRow(Object.keys(members), Object.values(members));
}

function indexedRow(members: readonly Row[]): Row {
  return new Row(
    members.map((_, index) => String(index)),
    members,
  );
}
