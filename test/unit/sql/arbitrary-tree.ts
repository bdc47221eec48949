// Arbitrary syntax trees, such as the parser makes, for property tests.
import fc from 'fast-check';
import {
  ARITHMETIC_OPERATORS,
  BITWISE_OPERATORS,
  CAST_TYPES,
  COMPARISON_OPERATORS,
  type Expression,
  IS_TESTS,
  JOIN_KINDS,
  type Query,
  type RowNode,
  type SelectItem,
  type SqlNode,
  type TableExpression,
  UNARY_OPERATORS,
} from '../../../src/sql/node.ts';

const WORDS = [
  'a',
  'b',
  'x1',
  '_',
  'from',
  'NULL',
  'Case',
  'in',
  'when1',
  'select',
  'distinct',
  '',
];
const PLACE = { start: fc.constant(0), end: fc.constant(0) };

const text = fc.oneof(
  fc.constantFrom("it's", '"', '--', '/*', "''", '\n'),
  fc.string({ unit: 'grapheme', maxLength: 6 }).map((each) => each.replaceAll('\0', '')),
);
const element = fc.oneof(fc.constantFrom(...WORDS), text);
const path = fc.array(element, { minLength: 1, maxLength: 3 });
const alias = fc.option(element, { nil: undefined });
const count = fc.option(fc.nat(), { nil: undefined });
const star = fc
  .record({ path: fc.oneof(fc.constant([]), path), dotted: fc.boolean() })
  .map((each) => ({ ...each, dotted: each.dotted && each.path.length > 0 }));
const exclusion = fc.oneof(
  fc.record({ kind: fc.constant('column' as const), path }),
  fc.record({ kind: fc.constant('star' as const), star }),
);
const number = fc.double({ min: 0 }).map((value) => (Object.is(value, -0) ? 0 : value));
const value = fc.oneof(
  fc.constant(null),
  fc.nat(),
  number,
  fc.constantFrom(1e15, 1e18, 1e19, 1e21, 1e-7, 5e-324, Number.POSITIVE_INFINITY),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
  text,
);
const binaryOperator = fc.constantFrom(
  ...ARITHMETIC_OPERATORS,
  ...BITWISE_OPERATORS,
  ...COMPARISON_OPERATORS,
  '@' as const,
);

type NodeOf<Kind extends SqlNode['kind']> = Extract<SqlNode, { kind: Kind }>;
/** Arbitraries of the parts; those that a node may leave out may be left out here too. */
type PartsOf<Kind extends SqlNode['kind']> = {
  [Part in Exclude<keyof NodeOf<Kind>, 'kind' | 'start' | 'end'>]?: fc.Arbitrary<
    NodeOf<Kind>[Part]
  >;
};

function node<Kind extends SqlNode['kind']>(
  kind: Kind,
  parts: PartsOf<Kind>,
): fc.Arbitrary<NodeOf<Kind>> {
  // The compiler cannot see that a record of the parts of a kind is a node of that kind.
  const record: unknown = fc.record({ kind: fc.constant(kind), ...parts, ...PLACE });
  return record as fc.Arbitrary<NodeOf<Kind>>;
}

// A type alias, for the recursion of fast-check wants an index signature.
type Trees = {
  expression: Expression;
  leaf: Expression;
  row: RowNode;
  item: SelectItem;
  table: TableExpression;
  query: Query;
};

export const { expression: arbitraryExpression, query: arbitraryQuery } = fc.letrec<Trees>(
  (tie) => {
    const expression = tie('expression');
    const optional = fc.option(expression, { nil: undefined });
    const some = fc.array(expression, { minLength: 1, maxLength: 3 });
    const key = fc.record({
      kind: fc.constant('order-key' as const),
      expression,
      descending: fc.boolean(),
      ...PLACE,
    });
    const keys = fc.array(key, { maxLength: 2 });
    const items = fc.array(tie('item'), { minLength: 1, maxLength: 3 });
    const negated = fc.boolean();
    return {
      leaf: fc.oneof(
        node('literal', { value }),
        node('column', { path }),
        node('parameter', { name: fc.oneof(fc.constantFrom('x', '1', 'a_1'), text) }),
        node('interval-literal', { text }),
      ),
      row: node('row', { items: fc.array(tie('item'), { maxLength: 3 }) }),
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        tie('leaf'),
        node('call', { table: alias, name: element, args: some, star: fc.constant(false) }),
        node('call', {
          table: alias,
          name: fc.constant('count'),
          args: fc.constant([]),
          star: fc.boolean(),
        }),
        node('extract', { operand: expression, index: expression }),
        tie('row'),
        node('embedding', { elements: fc.array(expression, { maxLength: 3 }) }),
        node('unary', { operator: fc.constantFrom(...UNARY_OPERATORS), operand: expression }),
        node('binary', { operator: binaryOperator, left: expression, right: expression }),
        chain('and', expression),
        chain('or', expression),
        node('between', { operand: expression, low: expression, high: expression, negated }),
        node('in-list', { operand: expression, choices: some, negated }),
        node('in-query', { operand: expression, query: tie('query'), negated }),
        node('in-keys', { operand: expression, row: expression, negated }),
        node('in-values', { operand: expression, row: expression, negated }),
        node('like', { operand: expression, pattern: expression, negated }),
        node('is', { operand: expression, test: fc.constantFrom(...IS_TESTS), negated }),
        node('case', {
          operand: optional,
          branches: fc.array(fc.record({ when: expression, result: expression }), { maxLength: 2 }),
          otherwise: optional,
        }),
        node('cast', { operand: expression, type: fc.constantFrom(...CAST_TYPES) }),
      ),
      item: fc.oneof(
        { depthSize: 'small' },
        node('wildcard', {
          star,
          excluding: fc.array(exclusion, { maxLength: 2 }),
          replacement: fc.option(star, { nil: undefined }),
        }),
        node('named-expression', {
          expression,
          name: fc.oneof(fc.constant('*'), fc.constant(undefined), path),
          surface: text,
        }),
        node('column-expression', {
          structured: fc.boolean(),
          select: optional,
          as: optional,
          where: optional,
          orderBy: keys,
          offset: count,
          limit: count,
        }),
      ),
      table: fc.oneof(
        { depthSize: 'small' },
        node('dataset-table', { name: element, alias }),
        node('function-table', {
          name: fc.constantFrom('merge', 'sample', 'transpose'),
          tables: fc.array(tie('table'), { maxLength: 2 }),
          options: fc.option(tie('row'), { nil: undefined }),
          alias,
        }),
        node('row-dataset-table', { expression, alias }),
        node('atom-dataset-table', { expression, alias }),
        node('subquery', { query: tie('query'), alias }),
        node('join', {
          joinKind: fc.constantFrom(...JOIN_KINDS),
          left: tie('table'),
          right: tie('table'),
          on: optional,
        }),
      ),
      query: node('query', {
        text: fc.constant(''),
        distinctOn: fc.array(expression, { maxLength: 2 }),
        select: items,
        named: optional,
        from: fc.option(tie('table'), { nil: undefined }),
        when: optional,
        where: optional,
        groupBy: fc.array(expression, { maxLength: 2 }),
        having: optional,
        orderBy: keys,
        limit: count.map(countNode),
        offset: count.map(countNode),
      }),
    };
  },
);

function countNode(value: number | undefined): Expression | undefined {
  return value === undefined ? undefined : { kind: 'literal', value, start: 0, end: 0 };
}

/** A chain as the parser makes it: its first operand is no chain of the same kind. */
function chain(kind: 'and' | 'or', expression: fc.Arbitrary<Expression>): fc.Arbitrary<Expression> {
  return fc.array(expression, { minLength: 2, maxLength: 4 }).map((given) => {
    const [first, ...rest] = given as [Expression, ...Expression[]];
    const operands = first.kind === kind ? [...first.operands, ...rest] : given;
    return { kind, operands, start: 0, end: 0 };
  });
}
