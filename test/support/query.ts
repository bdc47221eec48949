// Queries of a test against relations in memory: SQL in, the JSON of a format out.
import { type FormatName, writeRows } from '../../src/exec/output/format.ts';
import { DEFAULT_OUTPUT, type OutputOptions } from '../../src/exec/output/options.ts';
import { prepareQuery } from '../../src/exec/query.ts';
import { writeQuery } from '../../src/exec/write-query.ts';
import { explainPlan } from '../../src/physical/explain.ts';
import type { RelationRow } from '../../src/plan/namespace.ts';
import { FEW_FUNCTIONS } from './few-functions.ts';
import { MemoryNamespace, NO_CONTEXT } from './memory-namespace.ts';
import type { RowJson } from './memory-relation.ts';

export function namespaceOf(
  datasets: Readonly<Record<string, readonly RowJson[]>>,
): MemoryNamespace {
  const namespace = new MemoryNamespace(FEW_FUNCTIONS);
  for (const [name, rows] of Object.entries(datasets)) namespace.add(name, rows);
  return namespace;
}

/** Rows with one value a column, recorded at the epoch: `{ r1: { x: 1 } }`. */
export function rowsOf(
  rows: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): RowJson[] {
  return Object.entries(rows).map(([name, columns]) => [
    name,
    Object.entries(columns).map(([column, value]) => [column, value, 0] as const),
  ]);
}

export const EMPTY_CATALOG = namespaceOf({});

/** The text that a query writes. */
export function write(
  sql: string,
  namespace: MemoryNamespace = EMPTY_CATALOG,
  format: FormatName = 'table',
  output: Partial<OutputOptions> = {},
): string {
  return collect((emit) => {
    const options = { ...DEFAULT_OUTPUT, ...output };
    writeQuery(sql, { namespace, scope: NO_CONTEXT, format, output: options, emit });
  });
}

/** The parsed reply of a query. */
export function run(
  sql: string,
  namespace: MemoryNamespace = EMPTY_CATALOG,
  format: FormatName = 'table',
): unknown {
  return JSON.parse(write(sql, namespace, format));
}

/** Rows in a format. */
export function format(
  rows: Iterable<RelationRow>,
  name: FormatName,
  output: Partial<OutputOptions> = {},
): string {
  return collect((emit) => writeRows(rows, name, { ...DEFAULT_OUTPUT, ...output }, emit));
}

export function collect(write: (emit: (bytes: Uint8Array) => void) => void): string {
  const chunks: Uint8Array[] = [];
  write((bytes) => chunks.push(bytes));
  return Buffer.concat(chunks).toString();
}

/** The operators of a plan, one a line, inputs indented. */
export function explain(sql: string, namespace: MemoryNamespace): string[] {
  const { plan, runtime } = prepareQuery(sql, { namespace, scope: NO_CONTEXT });
  return explainPlan(plan, runtime.planner).map((line) => line.operator);
}
