// EXPLAIN, SHOW, DESCRIBE, SUMMARIZE: statements that look at plans, names and columns.
import { likeMatcher } from '../builtin/operator/like.ts';
import { explainPlan, pathOf } from '../physical/explain.ts';
import {
  type Observation,
  Observations,
  printColumns,
  printExpressions,
} from '../physical/observation.ts';
import type { RelationRow } from '../plan/namespace.ts';
import { typeAtPath, typeName } from '../plan/type/type.ts';
import type { QueryWarning } from '../plan/warning.ts';
import { parseQuery, parseTableExpression } from '../sql/parser/parser.ts';
import type { Statement } from '../sql/parser/statement.ts';
import { printSql } from '../sql/printer.ts';
import { failure } from '../util/error.ts';
import type { Atom } from '../value/atom.ts';
import { Path } from '../value/path.ts';
import { constant, Scalar, sortedRow } from '../value/value.ts';
import { type PreparedQuery, prepareQuery, queryRows, type WriteQueryOptions } from './query.ts';

export interface Answer {
  readonly columns: readonly string[];
  readonly rows: readonly RelationRow[];
  readonly warnings: readonly QueryWarning[];
}

export function lookAround(
  statement: Exclude<Statement, { kind: 'query' }>,
  options: WriteQueryOptions,
): Answer {
  switch (statement.kind) {
    case 'explain':
      return explain(statement.text, statement.analyze, options);
    case 'show-tables':
      return showTables(options);
    case 'show-functions':
      return showFunctions(statement.pattern, options);
    case 'describe':
      return describe(readSource(statement.text), options);
    case 'summarize':
      return summarize(readSource(statement.text), options);
  }
}

/** The query that a table or a query in parentheses stands for. */
function readSource(text: string): string {
  const bare = text.replace(/;\s*$/, '');
  if (/^\s*(SELECT|WITH|VALUES)\b/i.test(bare)) {
    parseQuery(text);
    return bare;
  }
  parseTableExpression(bare);
  return `SELECT * FROM ${bare.trimStart()}`;
}

function answer(
  columns: readonly string[],
  cells: readonly (readonly Atom[])[],
  warnings: readonly QueryWarning[] = [],
): Answer {
  const rows = cells.map((atoms, index) => ({
    name: new Path([String(index)]),
    row: sortedRow(
      columns,
      atoms.map((atom) => constant(atom)),
    ),
  }));
  return { columns, rows, warnings };
}

function explain(text: string, analyze: boolean, options: WriteQueryOptions): Answer {
  if (analyze) return explainAnalyze(text, options);
  const observations = new Observations();
  const dry = { ...asWritten(options), observe: observations.add, isDry: true };
  const { plan, runtime, warnings } = prepareQuery(text, dry);
  const cells = explainPlan(plan, runtime.planner).map((line) => {
    const { operator, path, rows, why, physical } = line;
    const lowered = physical ? observations.of(physical.logical) : NOTHING;
    const told = [printColumns(lowered), printExpressions(lowered.expressions)];
    return [operator, path, rows, why, ...told, line.names, line.timestamps];
  });
  return answer(['operator', 'path', 'rows', 'why', ...TOLD], cells, warnings);
}

/** What operators tell of themselves, and where names and timestamps of their rows are from. */
const TOLD = ['columns', 'expressions', 'names', 'timestamps'];

const NOTHING: Observation = {};

/** The query runs as it does when its result is written in that format. */
function asWritten(options: WriteQueryOptions) {
  return { ...options, exactTimestamps: options.format === 'full' };
}

/** Runs the query, and tells what each operator gave and how long it took, its inputs included. */
function explainAnalyze(text: string, options: WriteQueryOptions): Answer {
  const observations = new Observations();
  const prepared = prepareQuery(text, { ...asWritten(options), observe: observations.add });
  for (const _ of prepared.run()) options.scope.checkCancelled();
  const lines = explainPlan(prepared.plan, prepared.runtime.planner);
  const cells = lines.map(({ operator, path, rows, why, names, timestamps, physical }) => {
    const seen = physical ? observations.of(physical.logical) : NOTHING;
    const { rowCount = null, milliseconds = null, bytes = null, way } = seen;
    // Where only the data told that batches do not suit, the reference took over.
    const tookOver = physical !== undefined && way === 'rows' && physical.way !== 'rows';
    const [ranAs, because] = tookOver
      ? [pathOf({ ...physical, way }), 'a value or an expression did not suit']
      : [path, why];
    const told = [printColumns(seen), printExpressions(seen.expressions)];
    return [
      ...[operator, rowCount, milliseconds, ranAs, rows, because],
      ...[bytes, ...told, names, timestamps],
    ];
  });
  const columns = ['operator', 'rows', 'milliseconds', 'path', 'estimated_rows', 'why'];
  return answer([...columns, 'bytes', ...TOLD], cells, prepared.warnings);
}

function showTables({ namespace }: WriteQueryOptions): Answer {
  const names = namespace.datasetNames?.();
  if (names === undefined) throw failure('SQL_EXECUTION', 'datasets cannot be listed here');
  return answer(
    ['name'],
    [...names].sort().map((name) => [name]),
  );
}

function showFunctions(pattern: string | undefined, { namespace }: WriteQueryOptions): Answer {
  const matches = pattern === undefined ? undefined : likeMatcher(pattern.toLowerCase());
  const { builtins } = namespace;
  const cells = builtins
    .functionNames()
    .filter((name) => matches === undefined || matches(name.toLowerCase()))
    .map((name) => {
      const declaration = builtins.findFunction(name);
      const parameters = declaration?.parameters.map((parameter) => parameter.name).join(', ');
      return [name, declaration?.family ?? null, parameters ?? '', declaration?.summary ?? ''];
    });
  return answer(['name', 'family', 'parameters', 'summary'], cells);
}

interface ColumnInfo {
  readonly path: readonly string[];
  readonly type: string;
}

/** The columns of a query in their order, those that only its rows tell included. */
function columnsOf(prepared: PreparedQuery): readonly ColumnInfo[] {
  const { order, rowType } = prepared;
  const known = order.paths.map((path) => {
    const type = typeAtPath(rowType, path);
    return { path, type: type === undefined ? 'any' : typeName(type) };
  });
  if (order.rest === undefined) return known;
  const seen = new Map<string, readonly string[]>();
  for (const { row } of prepared.run()) {
    for (const name of row.names) seen.set(name, [name]);
  }
  const names = new Set(known.map(({ path }) => path[0]));
  const others = [...seen.values()].filter(([name]) => !names.has(name));
  return [...known, ...others.map((path) => ({ path, type: 'any' }))];
}

function describe(text: string, options: WriteQueryOptions): Answer {
  const prepared = prepareQuery(text, options);
  const columns = columnsOf(prepared);
  const summary = summaries(text, columns, options);
  const cells = columns.map(({ path, type }, index) => {
    const { nulls, type: seen } = summary[index] as ColumnSummary;
    return [new Path(path).toString(), KNOWN_TYPES.has(type) ? type : seen, nulls];
  });
  return answer(['column', 'type', 'nulls'], cells, prepared.warnings);
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  ...['integer', 'number', 'string', 'timestamp', 'interval', 'blob', 'path'],
]);

function summarize(text: string, options: WriteQueryOptions): Answer {
  const prepared = prepareQuery(text, options);
  const columns = columnsOf(prepared);
  const cells = summaries(text, columns, options).map((summary, index) => {
    const { path, type } = columns[index] as ColumnInfo;
    return [
      new Path(path).toString(),
      KNOWN_TYPES.has(type) ? type : summary.type,
      ...[summary.min, summary.max, summary.unique, summary.avg, summary.std],
      ...[summary.q25, summary.q50, summary.q75, summary.rows],
      summary.rows === 0 ? null : (100 * summary.nulls) / summary.rows,
    ];
  });
  return answer(
    [
      ...['column', 'type', 'min', 'max', 'approx_unique', 'avg', 'std', 'q25', 'q50', 'q75'],
      ...['count', 'null_percentage'],
    ],
    cells,
    prepared.warnings,
  );
}

interface ColumnSummary {
  readonly rows: number;
  readonly count: number;
  readonly nulls: number;
  readonly type: string;
  readonly min: Atom;
  readonly max: Atom;
  readonly unique: Atom;
  readonly avg: Atom;
  readonly std: Atom;
  readonly q25: Atom;
  readonly q50: Atom;
  readonly q75: Atom;
}

/** Columns that are summarised by one query, so that its text stays short. */
const COLUMNS_PER_QUERY = 50;

/** One query of aggregates over the rows of the text. */
function summaries(
  text: string,
  columns: readonly ColumnInfo[],
  options: WriteQueryOptions,
): readonly ColumnSummary[] {
  const found: ColumnSummary[] = [];
  for (let start = 0; start < columns.length; start += COLUMNS_PER_QUERY) {
    const part = columns.slice(start, start + COLUMNS_PER_QUERY);
    const items = part.flatMap(({ path }, index) => summaryItems(path, index));
    const query = `SELECT count(*) AS "rows", ${items.join(', ')} FROM (${text}) AS "s"`;
    const [first] = queryRows(query, options);
    const at = (name: string): Atom => {
      const value = first?.row.values[first.row.indexOf(name)];
      return value instanceof Scalar ? value.atom : null;
    };
    part.forEach((_, index) => {
      const read = (name: string) => at(`${name}${index}`);
      const rows = Number(at('rows'));
      const count = Number(read('count'));
      found.push({
        rows,
        count,
        nulls: rows - count,
        type: String(read('type') ?? 'null'),
        min: read('min'),
        max: read('max'),
        unique: read('unique'),
        ...{ avg: read('avg'), std: read('std') },
        ...{ q25: read('q25_'), q50: read('q50_'), q75: read('q75_') },
      });
    });
  }
  return found;
}

function summaryItems(path: readonly string[], index: number): readonly string[] {
  const column = printSql({ kind: 'column', path: ['s', ...path], start: 0, end: 0 });
  const number = `CASE WHEN ${column} IS NUMBER THEN ${column} END`;
  return [
    `count(${column}) AS count${index}`,
    `min(${column}) AS min${index}`,
    `max(${column}) AS max${index}`,
    `approx_count_distinct(${column}) AS unique${index}`,
    `CASE WHEN count(${number}) > 0 THEN avg(${number}) END AS avg${index}`,
    `CASE WHEN count(${number}) > 1 THEN stddev(${number}) END AS std${index}`,
    `quantile_cont(${number}, 0.25) AS q25_${index}`,
    `quantile_cont(${number}, 0.5) AS q50_${index}`,
    `quantile_cont(${number}, 0.75) AS q75_${index}`,
    `CASE WHEN count(DISTINCT typeof(${column})) > 1 THEN 'atom' ELSE max(typeof(${column})) END AS type${index}`,
  ];
}
