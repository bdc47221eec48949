// The entry of the engine: query text or clauses in, rows or bytes of a format out.
import type { ChoiceName } from '../physical/choice/choice.ts';
import type { Observe } from '../physical/observation.ts';
import { bindQuery } from '../plan/bind/bind.ts';
import type { ParameterTypes } from '../plan/bind/context.ts';
import type { ColumnOrder } from '../plan/column-order.ts';
import { guardDepth } from '../plan/depth.ts';
import type { CallContext } from '../plan/function.ts';
import type { Namespace, RelationRow } from '../plan/namespace.ts';
import { optimize } from '../plan/optimize.ts';
import type { QueryPlan } from '../plan/plan.ts';
import { readsTimestamps } from '../plan/timestamps.ts';
import { ANY_TYPE, type ValueType } from '../plan/type/type.ts';
import { type QueryWarning, WarningCollector } from '../plan/warning.ts';
import type { QueryNode } from '../sql/node.ts';
import { parseClauses, type QueryClauses } from '../sql/parser/clauses.ts';
import { parseQuery } from '../sql/parser/parser.ts';
import { NULL_VALUE, type Value } from '../value/value.ts';
import type { Executor, Runtime } from './general/compiler.ts';
import { evaluateConstant } from './general/constant.ts';
import { compileQuery } from './general/plan.ts';
import { makeRuntime } from './general/runtime.ts';
import type { FormatName } from './output/format.ts';
import type { OutputOptions } from './output/options.ts';
import type { Emit } from './output/sink.ts';
import type { QueryCache } from './query-cache.ts';

/** Query text, or an object with a text for each clause. */
export type QueryText = string | QueryClauses;

export interface QueryContext {
  readonly namespace: Namespace;
  readonly scope: CallContext;
  /** runs operators over batches; absent: the reference runs everything */
  readonly executor?: Executor | undefined;
  /** choices of physical plans that are not to be made */
  readonly without?: ReadonlySet<ChoiceName> | undefined;
}

/** Reads a query given in either way. @throws SqlSyntaxError */
export function readQuery(text: QueryText): QueryNode {
  return typeof text === 'string' ? parseQuery(text) : parseClauses(text);
}

/** Whether a query reads anything: a SELECT without FROM does not. */
export function hasTable(query: QueryNode): boolean {
  return query.kind !== 'query' || query.from !== undefined;
}

/** A query that was parsed, bound and compiled once, and runs any number of times. */
export interface PreparedQuery {
  readonly plan: QueryPlan;
  /** the type of the rows of the result */
  readonly rowType: ValueType;
  /** the order of its columns */
  readonly order: ColumnOrder;
  readonly warnings: readonly QueryWarning[];
  /** what its operators run in */
  readonly runtime: Runtime;
  /** Rows in result order. The iterable belongs to this run; the next run ends it. */
  run(parameters?: ReadonlyMap<string, Value>): Iterable<RelationRow>;
}

export interface PrepareOptions extends QueryContext {
  /** names that `$name` may use; absent: none */
  readonly parameters?: ParameterTypes | undefined;
  /** false: whoever reads the rows does not look at their timestamps, which then may be others */
  readonly exactTimestamps?: boolean | undefined;
  /** told what operators do */
  readonly observe?: Observe | undefined;
  /** true: the query is never run, only lowered: what operators would do is told to `observe` */
  readonly isDry?: boolean | undefined;
  /** refuses a query that would only be warned about */
  readonly strict?: boolean | undefined;
  /** Changes what was bound, before it is optimized. */
  readonly rewrite?: ((plan: QueryPlan) => QueryPlan) | undefined;
}

/** @throws SqlSyntaxError, SQL_BINDING, or ENTITY_NOT_FOUND for a dataset */
export function prepareQuery(text: QueryText, options: PrepareOptions): PreparedQuery {
  return guardDepth(() => prepareParsed(readQuery(text), options));
}

function prepareParsed(query: QueryNode, options: PrepareOptions): PreparedQuery {
  const { namespace, scope } = options;
  const warnings = new WarningCollector(options.strict === true);
  const bound = bindQuery(query, {
    namespace,
    warnings,
    parameters: options.parameters,
    evaluate: (expression) => evaluateConstant(expression, namespace, scope),
  });
  const rewritten = options.rewrite?.(bound) ?? bound;
  const exactTimestamps =
    options.exactTimestamps !== false ||
    [rewritten.root, ...rewritten.subqueries].some((root) => readsTimestamps(root, namespace));
  const plan = optimize(rewritten, { namespace, exactTimestamps });
  const runtime = makeRuntime(plan.subqueries, { ...options, exactTimestamps, text: query.text });
  const source = compileQuery(plan.root, runtime);
  return {
    plan,
    rowType: bound.rowType,
    order: bound.order,
    warnings: warnings.warnings,
    runtime,
    run(parameters) {
      runtime.run++;
      runtime.parameters = (name) => parameters?.get(name) ?? NULL_VALUE;
      return source();
    },
  };
}

/** The rows of a query that is run once. */
export function queryRows(text: QueryText, options: PrepareOptions): Iterable<RelationRow> {
  return prepareQuery(text, options).run();
}

export interface WriteQueryOptions extends QueryContext {
  readonly format: FormatName;
  readonly output: OutputOptions;
  /** `name`: columns in natural order in every format, and only those that occur */
  readonly columnOrder?: 'select' | 'name' | undefined;
  readonly strict?: boolean | undefined;
  /** the seed of `random()`; absent: another one in each run */
  readonly seed?: number | undefined;
  /** receives what is probably wrong, before the first byte; not called when nothing is */
  readonly warn?: ((warnings: readonly QueryWarning[]) => void) | undefined;
  /** receives the bytes of the result in order */
  readonly emit: Emit;
  /** queries prepared before by the same catalogue, scope and accelerator */
  readonly cache?: QueryCache<PreparedQuery> | undefined;
}

/** Parameters of any name and type: the input of a `sql.query` function. */
export const ANY_PARAMETERS: ParameterTypes = { typeOf: () => ANY_TYPE };
