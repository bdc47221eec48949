// Bound expressions as short text: for EXPLAIN and for plans in tests.
import { atomToPlainJsonText } from '../value/json.ts';
import { Path } from '../value/path.ts';
import { Scalar } from '../value/value.ts';
import { childrenOf } from './children.ts';
import type { BoundExpression } from './expression.ts';
import { typeName } from './type/type.ts';

export function printExpression(expression: BoundExpression): string {
  const print = printExpression;
  const not = (negated: boolean) => (negated ? ' NOT' : '');
  switch (expression.kind) {
    case 'constant': {
      const { value } = expression;
      if (!(value instanceof Scalar)) return typeName(expression.type);
      return typeof value.atom === 'string'
        ? `'${value.atom.replaceAll("'", "''")}'`
        : atomToPlainJsonText(value.atom);
    }
    case 'column':
    case 'member':
    case 'output-column':
      return new Path(expression.path).toString();
    case 'parameter':
      return `$${expression.name}`;
    case 'arithmetic':
    case 'comparison':
      return `(${print(expression.left)} ${expression.operator} ${print(expression.right)})`;
    case 'and':
    case 'or':
      return `(${expression.operands.map(print).join(` ${expression.kind.toUpperCase()} `)})`;
    case 'unary':
      return `${expression.operator} ${print(expression.operand)}`;
    case 'is':
      return `${print(expression.operand)} IS${not(expression.negated)} ${expression.test.toUpperCase()}`;
    case 'in-query':
      return `${print(expression.operand)}${not(expression.negated)} IN sub-select ${expression.subquery}`;
    case 'path-operand':
      return print(expression.operand);
    case 'row-function':
      return `${[...expression.side, expression.function].join('.')}(${expression.arg === undefined ? '' : print(expression.arg)})`;
    case 'column-function':
      return `${expression.function}(${expression.arg === undefined ? '' : print(expression.arg)})`;
    case 'group-key':
      return `key ${expression.index}`;
    case 'aggregate-result':
      return `aggregate ${expression.index}`;
    default: {
      const name = 'name' in expression ? expression.name : expression.kind;
      return `${name}(${childrenOf(expression).map(print).join(', ')})`;
    }
  }
}
