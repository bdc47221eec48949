// The scopes that need no table: nothing, the members of a value, the input of a function.
import type { CallNode, ColumnNode, Span, Star } from '../../sql/node.ts';
import { Path } from '../../value/path.ts';
import { NULL_VALUE } from '../../value/value.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression } from '../expression.ts';
import { patternOfStar, type StarPattern } from '../pattern.ts';
import { ANY_TYPE, atomType, typeAtPath, type ValueType } from '../type/type.ts';
import { bindOuter } from './outer.ts';

/** A query without FROM: constants, parameters and functions only. */
export const NO_TABLE_SCOPE: Scope = {
  column(node, context) {
    const outer = bindOuter(node, context);
    if (outer !== undefined) return outer;
    const name = new Path(node.path).toString();
    throw bindingError(context.text, node, `Cannot read column "${name}" with no FROM clause.`);
  },
  call: () => undefined,
  star(_star, span, place, context) {
    const message =
      place === 'item'
        ? 'Wildcard usage requires a FROM statement'
        : 'Cannot use wildcards with no FROM clause.';
    throw bindingError(context.text, span, message);
  },
  order: { paths: [], rest: undefined },
  columns: 'input',
  builtinsOnly: false,
};

/** A column of the input row, of the type that the row is known to have there. */
export function boundColumn(
  span: Span,
  path: readonly string[],
  rowType: ValueType,
): BoundExpression {
  const type = typeAtPath(rowType, path) ?? atomType('null');
  return { kind: 'column', path, type, start: span.start, end: span.end };
}

/**
 * `operand[index]`: columns are members of the operand, functions come from outside.
 * A member that certainly is not there is an error when the operand's members are all known; a path
 * of several elements that leads nowhere is null.
 */
export function memberScope(operandType: ValueType, outside: Scope): Scope {
  return {
    column(node, context) {
      const type = typeAtPath(operandType, node.path);
      if (type === undefined && node.path.length === 1) {
        const name = new Path(node.path).toString();
        throw bindingError(context.text, node, `Couldn't find column '${name}' in extract`);
      }
      const { path, start, end } = node;
      return { kind: 'member', path, type: type ?? atomType('null'), start, end };
    },
    call: (node, context) => outside.call(node, context),
    star: (star) => patternOfStar(star.path, star.dotted),
    columns: 'members',
    builtinsOnly: outside.builtinsOnly,
  };
}

/** A function that the caller's scope adds to the language, and the type of its result. */
export type ScopeFunctions = Readonly<Record<string, ValueType>>;

/** The input of a function or importer: an open row, and perhaps functions of its own. */
export class InputScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  readonly #rowType: ValueType;
  readonly #functions: ScopeFunctions;
  readonly #checkColumn: ((path: readonly string[]) => void) | undefined;

  /** @param checkColumn refuses columns that the input cannot have */
  constructor(
    rowType: ValueType,
    functions: ScopeFunctions = {},
    checkColumn?: (path: readonly string[]) => void,
  ) {
    this.#rowType = rowType;
    this.#functions = functions;
    this.#checkColumn = checkColumn;
  }

  column(node: ColumnNode): BoundExpression {
    this.#checkColumn?.(node.path);
    return boundColumn(node, node.path, this.#rowType);
  }

  call(node: CallNode): BoundExpression | undefined {
    const type = Object.hasOwn(this.#functions, node.name) ? this.#functions[node.name] : undefined;
    if (type === undefined || node.args.length > 0 || node.table !== undefined) return undefined;
    return { kind: 'scope-call', name: node.name, type, start: node.start, end: node.end };
  }

  star(star: Star, _span: Span, _place: WildcardPlace, _context: BindContext): StarPattern {
    return patternOfStar(star.path, star.dotted);
  }
}

/** A null that stands where a missing thing is read. */
export function missing(span: Span): BoundExpression {
  return { kind: 'constant', value: NULL_VALUE, type: ANY_TYPE, start: span.start, end: span.end };
}
