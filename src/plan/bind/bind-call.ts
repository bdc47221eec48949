// Function calls: scope functions first, then function entities, then builtins.

import type { CallNode, Expression } from '../../sql/node.ts';
import { findNearestWord } from '../../util/nearest-word.ts';
import { bindingError, locateError } from '../error.ts';
import type { BoundExpression } from '../expression.ts';
import type { ScalarFunction, UserFunction, ValueFunction } from '../function.ts';
import { warnAboutFeatures } from '../suspicion.ts';
import { arityOf, arityProblem } from '../type/arity.ts';
import { ANY_TYPE, commonType, isAtomType, type ValueType } from '../type/type.ts';
import { boundArguments, constantAtoms } from './bound-argument.ts';
import type { BindContext, Scope } from './context.ts';

export function bindCall(node: CallNode, scope: Scope, context: BindContext): BoundExpression {
  const scoped = scope.call(node, context);
  if (scoped !== undefined) return scoped;
  refuseModifiers(node, context);
  if (node.table !== undefined) throw unknownFunction(node, scope, context);
  if (node.name === 'try') return bindTry(node, scope, context);
  if (!scope.builtinsOnly) {
    const user = context.namespace.findUserFunction(node.name);
    if (user !== undefined) return bindUserCall(node, user, scope, context);
  }
  const { builtins } = context.namespace;
  const declaration = builtins.findFunction(node.name) ?? builtins.findInAnyCase(node.name);
  if (declaration?.kind === 'window') {
    const message = `${declaration.name}() is a window function: write ${declaration.name}(…) OVER (ORDER BY …)`;
    throw bindingError(context.text, node, message);
  }
  if (declaration === undefined || declaration.kind === 'aggregate') {
    throw unknownFunction(node, scope, context);
  }
  return bindBuiltin(node, declaration, scope, context);
}

/** What aggregates and windows have, on a call that is neither here. */
function refuseModifiers(node: CallNode, context: BindContext): void {
  const { modifiers } = node;
  if (modifiers === undefined) return;
  if (modifiers.over !== undefined) {
    const message = `window function '${node.name}' cannot stand here: only in SELECT, ORDER BY and QUALIFY, and not inside another one; to filter by its result, use QUALIFY`;
    throw bindingError(context.text, node, message);
  }
  const { builtins } = context.namespace;
  const declaration = builtins.findFunction(node.name) ?? builtins.findInAnyCase(node.name);
  if (declaration?.kind === 'aggregate') return;
  const message = `DISTINCT, ORDER BY, IGNORE NULLS and FILTER are for aggregates and window functions; '${node.name}' is none`;
  throw bindingError(context.text, node, message);
}

function bindBuiltin(
  node: CallNode,
  declaration: ScalarFunction | ValueFunction,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  if (node.star) throw bindingError(context.text, node, `function ${node.name} does not take *`);
  const prefix = `Binding builtin function ${node.name}: `;
  const problem = arityProblem(arityOf(declaration.parameters), node.args.length);
  if (problem !== undefined) {
    const message = declaration.arityMessage?.(node.args.length) ?? problem;
    throw bindingError(context.text, node, prefix + message);
  }
  const args = node.args.map((arg) => context.bind(arg, scope));
  const surfaces = node.args.map((arg) => surfaceOf(arg, context));
  const { start, end } = node;
  try {
    const type = checkCall(declaration, args, surfaces);
    return {
      kind: 'call',
      name: nameOf(node, declaration, context),
      args,
      surfaces,
      type,
      start,
      end,
    };
  } catch (error) {
    throw locateError(error, context.text, node);
  }
}

/** The name as written where a function has it, which messages then show; else the declared one. */
function nameOf(
  node: CallNode,
  declaration: ScalarFunction | ValueFunction,
  context: BindContext,
): string {
  const known = context.namespace.builtins.findFunction(node.name);
  return known === undefined ? declaration.name : node.name;
}

/** Lets the declaration look at its constants now, so that what it refuses is a binding error. */
function checkCall(
  declaration: ScalarFunction | ValueFunction,
  args: readonly BoundExpression[],
  surfaces: readonly string[],
): ValueType {
  if (declaration.kind === 'scalar') {
    declaration.specialize?.(constantAtoms(args));
    return scalarResultType(declaration, args);
  }
  const bound = boundArguments(args, surfaces);
  declaration.bind?.(bound);
  return declaration.resultType(bound);
}

function scalarResultType(
  declaration: ScalarFunction,
  args: readonly BoundExpression[],
): ValueType {
  if (declaration.elementwise === undefined) return declaration.result;
  const mapped = declaration.elementwise === 'both' ? args : args.slice(0, 1);
  return mapped.every((arg) => isAtomType(arg.type)) ? declaration.result : ANY_TYPE;
}

function bindTry(node: CallNode, scope: Scope, context: BindContext): BoundExpression {
  const [operand, otherwise] = node.args.map((arg) => context.bind(arg, scope));
  if (operand === undefined || node.args.length > 2) {
    const message = `Binding builtin function try: requires one or two arguments, got ${node.args.length}`;
    throw bindingError(context.text, node, message);
  }
  const type = otherwise === undefined ? ANY_TYPE : commonType(operand.type, otherwise.type);
  return { kind: 'try', operand, otherwise, type, start: node.start, end: node.end };
}

function bindUserCall(
  node: CallNode,
  user: UserFunction,
  scope: Scope,
  context: BindContext,
): BoundExpression {
  const args = node.args.map((arg) => context.bind(arg, scope));
  const [arg] = args;
  const scalar = arg !== undefined && isAtomType(arg.type) && !isNullConstant(arg);
  if (node.star || args.length > 1 || (scalar && !user.takesAnyValue)) {
    const message = `User function ${node.name} expected a single row { } argument`;
    throw bindingError(context.text, node, message);
  }
  if (user.features !== undefined) {
    warnAboutFeatures(node, arg, user.features, scope.order, context);
  }
  const { start, end } = node;
  return { kind: 'user-call', name: node.name, arg, type: user.outputType, start, end };
}

function isNullConstant(expression: BoundExpression): boolean {
  return expression.type.kind === 'atom' && expression.type.atom === 'null';
}

function unknownFunction(node: CallNode, scope: Scope, context: BindContext): Error {
  if (scope.builtinsOnly) {
    const message = `Unknown function ${node.name} in column expression`;
    return bindingError(context.text, node, message);
  }
  const name = node.table === undefined ? node.name : `${node.table}.${node.name}`;
  const text = surfaceOf(node, context);
  const message = `Unable to find function '${name}' binding function call '${text}'.`;
  return bindingError(context.text, node, message + hintAbout(node.name, context));
}

const NOT_BUILT_IN =
  " The function is not a built-in function, and either it's not a registered user function, or user functions are not available in the scope of the expression.";

function hintAbout(name: string, context: BindContext): string {
  const { builtins } = context.namespace;
  if (builtins.findFunction(name)?.kind === 'aggregate') {
    return ' Aggregates are only for SELECT, NAMED, HAVING and ORDER BY of a query with FROM, and not inside one another.';
  }
  const names = builtins.functionNames();
  const lower = name.toLowerCase();
  const sameInLowerCase = [...names].find((known) => known.toLowerCase() === lower);
  const near = sameInLowerCase ?? findNearestWord(name, names);
  return near === undefined ? NOT_BUILT_IN : `${NOT_BUILT_IN} Did you mean '${near}'?`;
}

export function surfaceOf(node: Expression, context: BindContext): string {
  return context.text.slice(node.start, node.end);
}
