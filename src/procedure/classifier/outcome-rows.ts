// Rows of a query together with outcomes: expressions over the rows that the query reads.

import { readQuery } from '../../exec/query.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import type { Path } from '../../value/path.ts';
import { flatten, Row } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';

/** A name and an SQL expression. */
export type Outcome = readonly [name: string, expression: string];

export interface OutcomeRow {
  readonly name: Path;
  /** the selected columns: printed path, latest value, its timestamp */
  readonly cells: readonly OutcomeCell[];
  /** the values of the outcomes, in their order */
  readonly outcomes: readonly Atom[];
}

export interface OutcomeCell {
  readonly column: Path;
  readonly atom: Atom;
  readonly ts: number;
}

/** The column that carries the outcomes beside the selected ones. */
export const CARRIER = '\u0001outcomes';

/** Rows in the order of the query. @throws what parsing and binding say of query and outcomes */
export function* outcomeRows(
  context: ProcedureContext,
  query: InputQuery,
  outcomes: readonly Outcome[],
): Generator<OutcomeRow> {
  let rowCount = 0;
  for (const { name, row } of context.query(withOutcomes(query, outcomes)).run()) {
    if (rowCount++ % 1024 === 0) context.checkCancelled();
    const carried = row.values[row.indexOf(CARRIER)];
    const values = new Map<string, Atom>();
    if (carried instanceof Row) {
      flatten(carried, [], (path, atom) => values.set(path.toText(), atom));
    }
    const cells: OutcomeCell[] = [];
    flatten(row, [], (column, atom, ts) => {
      if (column.elements[0] === CARRIER) return;
      const last = cells.at(-1);
      // Several values of a column stand side by side; the latest counts.
      if (last?.column.toString() !== column.toString()) cells.push({ column, atom, ts });
      else if (ts >= last.ts) cells[cells.length - 1] = { column, atom, ts };
    });
    yield { name, cells, outcomes: outcomes.map((_, i) => values.get(`o${i}`) ?? null) };
  }
}

/** The query with the outcomes as members of a row beside its columns. */
export function withOutcomes(query: InputQuery, outcomes: readonly Outcome[]): InputQuery {
  if (outcomes.length === 0) return query;
  for (const [name, expression] of outcomes) checkExpression(name, expression);
  const members = outcomes.map(([, expression], i) => `(${expression}) AS o${i}`).join(', ');
  const carrier = `{${members}} AS "${CARRIER}"`;
  if (typeof query !== 'string') return { ...query, select: `${query.select ?? '*'}, ${carrier}` };
  const read = readQuery(query);
  const end = read.kind === 'query' ? (read.select.at(-1)?.end ?? 0) : 0;
  return `${query.slice(0, end)}, ${carrier}${query.slice(end)}`;
}

/** @throws INVALID_PARAMETER naming the outcome, when its text is no single expression */
function checkExpression(name: string, expression: string): void {
  try {
    readQuery(`SELECT (${expression}) AS o`);
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    throw failure('INVALID_PARAMETER', `outcome '${name}': ${thrown.message}`, { outcome: name });
  }
}
