// A namespace of a few functions, so that the engine is tested apart from the builtins.
import { family, parameter } from '../../src/builtin/declare.ts';
import type { FunctionDeclaration, FunctionNamespace } from '../../src/plan/function.ts';
import { ANY_TYPE, atomType } from '../../src/plan/type/type.ts';
import { failure } from '../../src/util/error.ts';
import { MINUS_INFINITY } from '../../src/value/timestamp.ts';
import { cellsOf, Scalar, type Value } from '../../src/value/value.ts';

const { scalar, value, aggregate } = family('test');

const x = parameter('x', 'anything');

function atomOf(argument: Value | undefined): Scalar['atom'] {
  return argument instanceof Scalar ? argument.atom : null;
}

const DECLARATIONS: readonly FunctionDeclaration[] = [
  scalar({
    name: 'upper',
    summary: 'Upper case.',
    parameters: [x],
    result: atomType('string'),
    examples: [],
    evaluate: (text) => String(text).toUpperCase(),
  }),
  scalar({
    name: 'double',
    summary: 'Twice the number, element by element.',
    parameters: [x],
    result: atomType('number'),
    elementwise: 'first',
    examples: [],
    evaluate: (number) => 2 * (number as number),
  }),
  scalar({
    name: 'refuse',
    summary: 'Always fails.',
    parameters: [x],
    result: ANY_TYPE,
    volatility: 'volatile',
    examples: [],
    evaluate() {
      throw failure('SQL_EXECUTION', 'refused');
    },
  }),
  value({
    name: 'width',
    summary: 'How many atoms a value has.',
    parameters: [x],
    nulls: 'handle',
    result: atomType('integer'),
    examples: [],
    evaluate: ([row]) => new Scalar(cellsOf(row as Value).length, MINUS_INFINITY),
  }),
  value({
    name: 'history',
    summary: 'How many points a cell has.',
    parameters: [x],
    nulls: 'handle',
    versions: 'all',
    result: atomType('integer'),
    examples: [],
    evaluatePoints: ([points]) => new Scalar(points?.length ?? 0, MINUS_INFINITY),
  }),
  aggregate<{ count: number }>({
    name: 'count',
    summary: 'Counts values.',
    parameters: [x],
    countsEmpty: true,
    examples: [],
    resultType: () => atomType('integer'),
    init: () => ({ count: 0 }),
    update(state, [argument]) {
      if (atomOf(argument) !== null) state.count++;
    },
    merge(state, other) {
      state.count += other.count;
    },
    finish: (state) => new Scalar(state.count, MINUS_INFINITY),
  }) as FunctionDeclaration,
  aggregate<{ sum: number }>({
    name: 'sum',
    summary: 'Adds numbers.',
    parameters: [x],
    examples: [],
    resultType: () => atomType('number'),
    init: () => ({ sum: 0 }),
    update(state, [argument]) {
      state.sum += Number(atomOf(argument) ?? 0);
    },
    merge(state, other) {
      state.sum += other.sum;
    },
    finish: (state) => new Scalar(state.sum, MINUS_INFINITY),
  }) as FunctionDeclaration,
];

const BY_NAME = new Map(DECLARATIONS.map((declaration) => [declaration.name, declaration]));

export const FEW_FUNCTIONS: FunctionNamespace = {
  findFunction: (name) => BY_NAME.get(name),
  findInAnyCase: (name) => BY_NAME.get(name.toLowerCase()),
  functionNames: () => [...BY_NAME.keys()],
};
