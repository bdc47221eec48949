// Select lists and expressions over rows that a caller brings: functions, importers, procedures.
import type { BindOptions } from '../plan/bind/bind.ts';
import { bindSelectItems, bindSingleExpression } from '../plan/bind/bind.ts';
import type { BoundExpression, ProjectItem } from '../plan/expression.ts';
import type { CallContext } from '../plan/function.ts';
import { NeededSet } from '../plan/needed.ts';
import type { PlanNode } from '../plan/plan.ts';
import { InputScope, type ScopeFunctions } from '../plan/scope/scope.ts';
import { OPEN_ROW_TYPE, type ValueType } from '../plan/type/type.ts';
import { parseExpression, parseSelectList } from '../sql/parser/parser.ts';
import { Path } from '../value/path.ts';
import { NULL_VALUE, type Row, type Value } from '../value/value.ts';
import { listColumns } from './general/column-list.ts';
import type { Compiler, Runtime } from './general/compiler.ts';
import { evaluateConstant } from './general/constant.ts';
import { Frame } from './general/frame.ts';
import { compileRow } from './general/make-row.ts';
import { makeCompiler } from './general/plan.ts';
import { TableRow } from './general/row.ts';
import { makeRuntime } from './general/runtime.ts';
import { isTrue } from './general/truth.ts';
import type { QueryContext } from './query.ts';

export interface PrepareRowOptions extends QueryContext {
  /** what is known of the input; default: a row of unknown columns */
  readonly inputType?: ValueType | undefined;
  /** functions that only exist here, such as `lineNumber()`, and the types of their results */
  readonly functions?: ScopeFunctions | undefined;
  /** throws for columns that the input cannot have */
  readonly checkColumn?: ((path: readonly string[]) => void) | undefined;
}

/** What a caller may set before it evaluates. */
export interface RowContext {
  /** the value of a function of the scope */
  readonly call?: (name: string) => Value;
  readonly scope?: CallContext;
}

export interface PreparedSelect {
  readonly items: readonly ProjectItem[];
  /** the type of the row that `apply` makes */
  readonly outputType: ValueType;
  /** first elements of the columns that are read; in the order of their first use */
  readonly variables: readonly string[];
  /** true: a wildcard or COLUMN EXPR reads whatever the input has */
  readonly readsAll: boolean;
  apply(input: Row, context?: RowContext): Row;
  /** the value of the only item; @throws when there is not exactly one named item */
  applyValue(input: Row, context?: RowContext): Value;
}

/** @throws SqlSyntaxError or SQL_BINDING */
export function compileSelect(text: string, options: PrepareRowOptions): PreparedSelect {
  const bound = bindSelectItems(
    parseSelectList(text),
    text,
    scopeOf(options),
    bindOptions(options),
  );
  const { compiler, at } = prepare(bound.subqueries, text, options);
  const makeRow = compileRow(bound.items, compiler);
  const needed = new NeededSet();
  needed.addItems(bound.items);
  const [only] = bound.items;
  const single =
    bound.items.length === 1 && only?.kind === 'named'
      ? compiler.evaluator(only.expression)
      : undefined;
  return {
    items: bound.items,
    outputType: bound.rowType,
    variables: needed.variables(),
    readsAll: needed.columns === 'all',
    apply: (input, context) => makeRow(at(input, context)),
    applyValue(input, context) {
      if (single === undefined) throw new Error('the select list is not one named expression');
      return single(at(input, context));
    },
  };
}

export interface PreparedExpression {
  readonly expression: BoundExpression;
  readonly type: ValueType;
  readonly variables: readonly string[];
  readonly readsAll: boolean;
  /** @throws SQL_EXECUTION, and what functions throw */
  evaluate(input: Row, context?: RowContext): Value;
  /** IS TRUE */
  test(input: Row, context?: RowContext): boolean;
}

/** @throws SqlSyntaxError or SQL_BINDING */
export function compileExpression(text: string, options: PrepareRowOptions): PreparedExpression {
  const node = parseExpression(text);
  const bound = bindSingleExpression(node, text, scopeOf(options), bindOptions(options));
  const { compiler, at } = prepare(bound.subqueries, text, options);
  const evaluate = compiler.evaluator(bound.expression);
  const needed = new NeededSet();
  needed.addExpression(bound.expression);
  return {
    expression: bound.expression,
    type: bound.expression.type,
    variables: needed.variables(),
    readsAll: needed.columns === 'all',
    evaluate: (input, context) => evaluate(at(input, context)),
    test: (input, context) => isTrue(evaluate(at(input, context))),
  };
}

function scopeOf(options: PrepareRowOptions): InputScope {
  return new InputScope(options.inputType ?? OPEN_ROW_TYPE, options.functions, options.checkColumn);
}

function bindOptions({ namespace, scope }: PrepareRowOptions): BindOptions {
  return {
    namespace,
    evaluate: (expression) => evaluateConstant(expression, namespace, scope),
  };
}

interface Prepared {
  readonly compiler: Compiler;
  /** Puts the frame on an input row. */
  readonly at: (input: Row, context: RowContext | undefined) => Frame;
}

const INPUT_NAME = Path.of('result');

function prepare(
  subqueries: readonly PlanNode[],
  text: string,
  options: PrepareRowOptions,
): Prepared {
  const runtime: Runtime = makeRuntime(subqueries, { ...options, text });
  let current: Row | undefined;
  const compiler = makeCompiler(runtime, (structured) =>
    current === undefined ? [] : listColumns([new TableRow(INPUT_NAME, current)], structured),
  );
  const usesRuns = subqueries.length > 0;
  return {
    compiler,
    at(input, context) {
      // A frame for each call: a function may call itself through others.
      const frame = new Frame();
      frame.row = input;
      current = input;
      runtime.scopeCalls = context?.call ?? noScopeCall;
      runtime.scope = context?.scope ?? options.scope;
      if (usesRuns) runtime.run++;
      return frame;
    },
  };
}

function noScopeCall(): Value {
  return NULL_VALUE;
}
