// Sums as parts of plans: terms as bound expressions, aggregates as calls.
import type { Aggregate, SumsRequest } from '../../learn/sums/sums.ts';
import type { ColumnRef, Term, Test } from '../../learn/sums/term.ts';
import type { BoundExpression, NamedProjectItem } from '../../plan/expression.ts';
import type { AggregateCall, PlanNode, ProjectNode } from '../../plan/plan.ts';
import { atomType, type ValueType } from '../../plan/type/type.ts';
import { Scalar } from '../../value/value.ts';

export const BASE = { type: atomType('atom'), start: 0, end: 0 } as const;
const NUMBER = { type: atomType('number'), start: 0, end: 0 } as const;

/** The column of a plan that stands for a column of the rows. */
export function nameOf(column: ColumnRef): string {
  return typeof column === 'number' ? `c${column}` : column;
}

/** 1 where a condition holds, else 0. */
export function asNumber(condition: BoundExpression): BoundExpression {
  const branches = [{ when: condition, result: literal(1) }];
  return {
    ...NUMBER,
    kind: 'case',
    operand: undefined,
    branches,
    otherwise: literal(0),
    emptyRow: false,
  };
}

/** An item of a select list. */
export function named(name: string, expression: BoundExpression): NamedProjectItem {
  return { kind: 'named', path: [name], expression, start: 0, end: 0 };
}

/** A select list above a plan. */
export function selection(input: PlanNode, items: readonly NamedProjectItem[]): ProjectNode {
  return { kind: 'project', input, items, name: undefined, keepsInput: false };
}

/** The rows of a plan for which a condition holds. */
export function filtered(input: PlanNode, condition: BoundExpression): PlanNode {
  return { kind: 'filter', input, condition };
}

/** A constant. */
export function literal(value: number | string): BoundExpression {
  const type = atomType(typeof value === 'string' ? 'string' : 'number');
  return {
    kind: 'constant',
    value: new Scalar(value, Number.NEGATIVE_INFINITY),
    type,
    start: 0,
    end: 0,
  };
}

/** A column of the plan below, of numbers as long as nothing else is said. */
export function columnExpression(
  name: string,
  type: ValueType = atomType('number'),
): BoundExpression {
  return { kind: 'column', path: [name], type, start: 0, end: 0 };
}

/** Names of the columns that a request reads. */
export function columnsUsed({ shared = [], keys, values }: SumsRequest): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (term: Term): void => {
    if (term.kind === 'column') names.add(nameOf(term.column));
    else for (const child of childrenOf(term)) visit(child);
  };
  const all = values.flatMap((value) => (value.kind === 'rows' ? [] : [value.of]));
  for (const term of [...shared, ...keys, ...all]) visit(term);
  return names;
}

function childrenOf(term: Term): readonly Term[] {
  switch (term.kind) {
    case 'arithmetic':
      return [term.left, term.right];
    case 'call':
      return [term.arg];
    case 'each':
    case 'softmax':
      return term.terms;
    case 'choice':
      return [
        ...term.choices.flatMap(({ test, value }) => [...termsOf(test), value]),
        term.otherwise,
      ];
    default:
      return [];
  }
}

function termsOf(test: Test): readonly Term[] {
  switch (test.kind) {
    case 'compare':
      return [test.left, test.right];
    case 'missing':
      return [test.term];
    case 'all':
    case 'any':
      return test.tests.flatMap(termsOf);
  }
}

/** Positions of shared values, those first that name no others. */
export function levelsOf(shared: readonly Term[]): number[][] {
  const depths: number[] = [];
  const depthOf = (term: Term): number => {
    if (term.kind === 'shared') return (depths[term.index] as number) + 1;
    return childrenOf(term).reduce((depth, child) => Math.max(depth, depthOf(child)), 0);
  };
  const levels: number[][] = [];
  for (const [index, term] of shared.entries()) {
    const depth = depthOf(term);
    depths.push(depth);
    levels[depth] ??= [];
    levels[depth].push(index);
  }
  return levels;
}

/** Terms as expressions over columns that `column` gives. */
export class TermBinder {
  readonly column: (name: string) => BoundExpression;

  constructor(column: (name: string) => BoundExpression) {
    this.column = column;
  }

  term(term: Term): BoundExpression {
    switch (term.kind) {
      case 'constant':
        return literal(term.value);
      case 'column':
        return this.column(nameOf(term.column));
      case 'shared':
        return this.column(`s${term.index}`);
      case 'arithmetic': {
        const { operator, left, right } = term;
        return {
          ...NUMBER,
          kind: 'arithmetic',
          operator,
          left: this.term(left),
          right: this.term(right),
        };
      }
      case 'call':
        return this.#call(term.name, [this.term(term.arg)]);
      case 'each':
        return this.#call(
          'each',
          term.terms.map((each) => this.term(each)),
        );
      case 'softmax':
        return this.#call('softmax', [
          literal(term.index),
          ...term.terms.map((each) => this.term(each)),
        ]);
      case 'choice':
        return {
          ...BASE,
          kind: 'case',
          operand: undefined,
          branches: term.choices.map(({ test, value }) => ({
            when: this.test(test),
            result: this.term(value),
          })),
          otherwise: this.term(term.otherwise),
          emptyRow: false,
        };
    }
  }

  test(test: Test): BoundExpression {
    switch (test.kind) {
      case 'compare': {
        const { operator, left, right } = test;
        return {
          ...BASE,
          kind: 'comparison',
          operator,
          left: this.term(left),
          right: this.term(right),
        };
      }
      case 'missing':
        return { ...BASE, kind: 'is', operand: this.term(test.term), test: 'null', negated: false };
      case 'all':
      case 'any': {
        const operands = test.tests.map((each) => this.test(each));
        return { ...BASE, kind: test.kind === 'all' ? 'and' : 'or', operands };
      }
    }
  }

  #call(name: string, args: readonly BoundExpression[]): BoundExpression {
    return { ...NUMBER, kind: 'call', name, args, surfaces: args.map(() => '') };
  }

  call(aggregate: Aggregate): AggregateCall {
    const name = aggregate.kind === 'rows' ? 'count' : AGGREGATES[aggregate.kind];
    const args = aggregate.kind === 'rows' ? [] : [this.term(aggregate.of)];
    return { name, args, surface: name, start: 0, end: 0 };
  }
}

const AGGREGATES = {
  count: 'count',
  distinct: 'count_distinct',
  sum: 'sum',
  min: 'min',
  max: 'max',
} as const;
