// The entry of the engine: query text or clauses in, rows or bytes of a format out.
import { bindQuery } from '../plan/bind.ts';
import type { Catalog, RelationRow } from '../plan/catalog.ts';
import type { ParameterTypes } from '../plan/context.ts';
import { guardDepth } from '../plan/depth.ts';
import { type ExplainLine, explainPlan } from '../plan/explain.ts';
import type { CallScope } from '../plan/function.ts';
import { optimize } from '../plan/optimize.ts';
import type { PlanNode, QueryPlan } from '../plan/plan.ts';
import { readsTimestamps } from '../plan/timestamps.ts';
import { ANY_TYPE, type ValueType } from '../plan/type.ts';
import type { Query } from '../sql/node.ts';
import { parseClauses, type QueryClauses } from '../sql/parser/clauses.ts';
import { parseQuery } from '../sql/parser/parser.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { constant, NULL_VALUE, Row, type Value } from '../value/value.ts';
import { ColumnRows } from './column-rows.ts';
import type { Accelerator, Observation, Observe, Runtime } from './general/compiler.ts';
import { evaluateConstant } from './general/constant.ts';
import { compilePlan } from './general/plan.ts';
import { makeRuntime } from './general/runtime.ts';
import { type FormatName, writeRows } from './output/format.ts';
import { knownColumnsOf } from './output/known-columns.ts';
import type { OutputOptions } from './output/options.ts';
import type { Emit } from './output/sink.ts';
import type { QueryCache } from './query-cache.ts';

/** Query text, or an object with a text for each clause. */
export type QueryText = string | QueryClauses;

export interface QueryScope {
  readonly catalog: Catalog;
  readonly scope: CallScope;
  /** tried before the general operators; absent: they do it all */
  readonly accelerate?: Accelerator | undefined;
}

/** Reads a query given in either way. @throws SqlSyntaxError */
export function readQuery(text: QueryText): Query {
  return typeof text === 'string' ? parseQuery(text) : parseClauses(text);
}

/** A query that was parsed, bound and compiled once, and runs any number of times. */
export interface PreparedQuery {
  readonly plan: QueryPlan;
  /** the type of the rows of the result */
  readonly rowType: ValueType;
  /** what its operators run in */
  readonly runtime: Runtime;
  /** Rows in result order. The iterable belongs to this run; the next run ends it. */
  run(parameters?: ReadonlyMap<string, Value>): Iterable<RelationRow>;
}

export interface PrepareOptions extends QueryScope {
  /** names that `$name` may use; absent: none */
  readonly parameters?: ParameterTypes | undefined;
  /** false: whoever reads the rows does not look at their timestamps, which then may be others */
  readonly exactTimestamps?: boolean | undefined;
  /** told what operators do */
  readonly observe?: Observe | undefined;
  /** Changes what was bound, before it is optimized. */
  readonly rewrite?: ((plan: QueryPlan) => QueryPlan) | undefined;
}

/** @throws SqlSyntaxError, SQL_BINDING, or ENTITY_NOT_FOUND for a dataset */
export function prepareQuery(text: QueryText, options: PrepareOptions): PreparedQuery {
  return guardDepth(() => prepareParsed(readQuery(text), options));
}

function prepareParsed(query: Query, options: PrepareOptions): PreparedQuery {
  const { catalog, scope } = options;
  const bound = bindQuery(query, {
    catalog,
    parameters: options.parameters,
    evaluate: (expression) => evaluateConstant(expression, catalog, scope),
  });
  const plan = optimize(options.rewrite?.(bound) ?? bound, catalog);
  const exactTimestamps =
    options.exactTimestamps !== false ||
    [plan.root, ...plan.subqueries].some((root) => readsTimestamps(root, catalog.builtins));
  const runtime = makeRuntime(plan.subqueries, { ...options, exactTimestamps, text: query.text });
  const source = compilePlan(plan.root, runtime);
  return {
    plan,
    rowType: bound.rowType,
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

export interface WriteQueryOptions extends QueryScope {
  readonly format: FormatName;
  readonly output: OutputOptions;
  /** receives the bytes of the result in order */
  readonly emit: Emit;
  /** names what `accelerate` runs, for EXPLAIN */
  readonly pathOf?: ((node: PlanNode, runtime: Runtime) => string | undefined) | undefined;
  /** queries prepared before by the same catalogue, scope and accelerator */
  readonly cache?: QueryCache<PreparedQuery> | undefined;
}

/**
 * Runs a query and writes its result in a format; `EXPLAIN <query>` writes the plan instead, and
 * `EXPLAIN ANALYZE <query>` what its operators did.
 * @throws what parsing, binding and running throw; bytes may have been emitted before
 */
export function writeQuery(text: string, options: WriteQueryOptions): number {
  if (text.trim() === '') throw failure('MISSING_PARAMETER', 'the query q is empty');
  const exactTimestamps = options.format === 'full';
  const explained = /^\s*EXPLAIN\s+(ANALYZE\s+)?(?=SELECT\b)/i.exec(text);
  if (explained?.[1] !== undefined) {
    const rows = analyzeQuery(text.slice(explained[0].length), { ...options, exactTimestamps });
    writeRows(rows, options.format, options.output, options.emit);
    return rows.length;
  }
  if (explained !== null) {
    const prepared = prepareQuery(text.slice(explained[0].length), { ...options, exactTimestamps });
    const { plan, runtime } = prepared;
    const pathOf = (node: PlanNode) => options.pathOf?.(node, runtime);
    const rows = explainRows(explainPlan(plan, options.catalog, pathOf));
    writeRows(rows, options.format, options.output, options.emit);
    return rows.length;
  }
  const key = exactTimestamps ? `full ${text}` : text;
  const prepared = options.cache?.take(key) ?? prepareQuery(text, { ...options, exactTimestamps });
  const knownColumns = knownColumnsOf(prepared.plan.root);
  const output = knownColumns === undefined ? options.output : { ...options.output, knownColumns };
  const rows = prepared.run();
  const counted = rows instanceof ColumnRows ? rows : new CountedRows(rows);
  writeRows(counted, options.format, output, options.emit);
  options.cache?.put(key, prepared);
  return counted.rowCount;
}

/** Runs a query for what its operators do: their rows, and the time with everything below them. */
function analyzeQuery(text: string, options: WriteQueryOptions & PrepareOptions): RelationRow[] {
  const observed = new Map<PlanNode, Observation>();
  const observe: Observe = (node, observation) => {
    observed.set(node, { ...observed.get(node), ...observation });
  };
  const { plan, run } = prepareQuery(text, { ...options, observe });
  const rows = run();
  for (const _ of rows) {
    // Only what operators tell meanwhile counts.
  }
  const lines = explainPlan(plan, options.catalog, (node) => observed.get(node)?.path);
  return explainRows(lines).map(({ name, row }, index) => {
    const node = lines[index]?.node;
    const { rowCount = null, milliseconds } = (node && observed.get(node)) ?? {};
    const time = milliseconds === undefined ? null : Math.round(milliseconds * 1000) / 1000;
    const [operator, path, estimate] = row.values as [Value, Value, Value];
    return {
      name,
      row: new Row(
        ['estimate', 'ms', 'operator', 'path', 'rows'],
        [estimate, constant(time), operator, path, constant(rowCount)],
      ),
    };
  });
}

/** No generator: rows are many. */
class CountedRows implements Iterable<RelationRow> {
  rowCount = 0;
  readonly #rows: Iterable<RelationRow>;

  constructor(rows: Iterable<RelationRow>) {
    this.#rows = rows;
  }

  [Symbol.iterator](): Iterator<RelationRow> {
    const inner = this.#rows[Symbol.iterator]();
    return {
      next: () => {
        const next = inner.next();
        if (next.done !== true) this.rowCount++;
        return next;
      },
      return: (value?: unknown) => inner.return?.(value) ?? { done: true, value },
    };
  }
}

/** One row for each operator, named by its position. */
export function explainRows(lines: readonly ExplainLine[]): RelationRow[] {
  return lines.map((line, index) => ({
    name: new Path([String(index)]),
    row: new Row(
      ['operator', 'path', 'rows'],
      [constant(line.operator), constant(line.path), constant(line.rows)],
    ),
  }));
}

/** Parameters of any name and type: the input of a `sql.query` function. */
export const ANY_PARAMETERS: ParameterTypes = { typeOf: () => ANY_TYPE };
