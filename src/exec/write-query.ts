// Queries and statements for looking around, whose results are written in a format.

import type { CallContext, RandomDraws } from '../plan/function.ts';
import type { RelationRow } from '../plan/namespace.ts';
import { readStatement, type Statement } from '../sql/parser/statement.ts';
import { failure } from '../util/error.ts';
import { ColumnRows } from './column-rows.ts';
import { seededDraws } from './general/call/random.ts';
import { lookAround } from './look-around.ts';
import { writeRows } from './output/format.ts';
import { knownColumnsOf } from './output/known-columns.ts';
import { columnComparer } from './output/options.ts';
import { type PreparedQuery, prepareQuery, type WriteQueryOptions } from './query.ts';

/**
 * Runs a query, or a statement for looking around, and writes its result in a format.
 * @returns the number of rows
 * @throws what parsing, binding and running throw; bytes may have been emitted before
 */
export function writeQuery(text: string, options: WriteQueryOptions): number {
  if (text.trim() === '') throw failure('MISSING_PARAMETER', 'the query q is empty');
  const statement = readStatement(text);
  if (statement.kind !== 'query') return writeStatement(statement, options);
  const exactTimestamps = options.format === 'full';
  const key = exactTimestamps ? `full ${text}` : text;
  const cached = options.strict === true ? undefined : options.cache?.take(key);
  const prepared = cached ?? prepareQuery(text, { ...options, exactTimestamps });
  const rowCount = writePrepared(prepared, options);
  if (options.strict !== true) options.cache?.put(key, prepared);
  return rowCount;
}

function writePrepared(prepared: PreparedQuery, options: WriteQueryOptions): number {
  const { order, warnings, runtime } = prepared;
  const { output, columnOrder, seed } = options;
  if (warnings.length > 0) options.warn?.(warnings);
  const random = seededDraws(seed ?? Math.floor(Math.random() * 2 ** 32));
  runtime.scope = withRandom(options.scope, random);
  const ordered = columnOrder === 'name' ? output : { ...output, order };
  const { plan, rowType } = prepared;
  const knownColumns = knownColumnsOf(plan.root, rowType, columnComparer(ordered));
  const rows = prepared.run();
  const counted = rows instanceof ColumnRows ? rows : new CountedRows(rows);
  const known = knownColumns === undefined ? {} : { knownColumns };
  writeRows(counted, options.format, { ...ordered, ...known }, options.emit);
  return counted.rowCount;
}

/** The scope keeps its own state to itself, so it is asked and not copied. */
function withRandom(scope: CallContext, random: RandomDraws): CallContext {
  return {
    checkCancelled: () => scope.checkCancelled(),
    get host() {
      return scope.host;
    },
    random,
  };
}

function writeStatement(
  statement: Exclude<Statement, { kind: 'query' }>,
  options: WriteQueryOptions,
): number {
  const { rows, columns, warnings } = lookAround(statement, options);
  if (warnings.length > 0) options.warn?.(warnings);
  const order = { paths: columns.map((name) => [name]), rest: undefined };
  const output = options.columnOrder === 'name' ? options.output : { ...options.output, order };
  writeRows(rows, options.format, output, options.emit);
  return rows.length;
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
