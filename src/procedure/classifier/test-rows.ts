// Reads what a test query selects: scores, labels and weights, row by row.

import { type Mode, regressionTarget } from '../../learn/label.ts';
import { childrenOf } from '../../plan/children.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import { type Atom, isTrue } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import type { Path } from '../../value/path.ts';
import { cellsOf, latestOf, Row, Scalar, type Value } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';

export interface LabelledScores {
  readonly label: Exclude<Atom, null>;
  /** the column name that the label was read from */
  readonly column: string;
  readonly score: number;
}

export interface TestRow {
  readonly name: Path;
  /** when the test ran, in seconds */
  readonly ts: number;
  readonly weight: number;
  /** one label; null in mode multilabel */
  readonly label: Atom;
  /** IS TRUE of the label */
  readonly truth: boolean;
  /** all labels of a row in mode multilabel */
  readonly labels: readonly string[];
  /** one score; NaN where there are several */
  readonly score: number;
  readonly scores: readonly LabelledScores[];
}

/** Rows with a label. @throws DATA_ERROR for a score that is missing or not a number */
export function readTestRows(context: ProcedureContext, query: InputQuery, mode: Mode): TestRow[] {
  const prepared = context.query(query);
  const { root } = prepared.plan;
  const isWeighted =
    root.kind === 'project' &&
    root.items.some((item) => item.kind === 'named' && item.path.join('.') === 'weight');
  const isLabelled = mode === 'categorical' || mode === 'multilabel';
  const rows: TestRow[] = [];
  let readCount = 0;
  for (const { name, row } of prepared.run()) {
    if (readCount++ % 256 === 0) context.checkCancelled();
    const label = readLabel(row, mode);
    if (label === undefined) continue;
    rows.push({
      name,
      ts: context.startedAt,
      weight: isWeighted ? readWeight(row) : 1,
      label: label.atom,
      truth: isTrue(label.atom),
      labels: label.names,
      score: isLabelled ? Number.NaN : readScore(row, mode),
      scores: isLabelled ? readScores(row) : [],
    });
  }
  return rows;
}

/** The id of the function that the scores come from, where there is just one. */
export function testedFunction(context: ProcedureContext, query: InputQuery): string | undefined {
  const { root } = context.query(query).plan;
  if (root.kind !== 'project') return undefined;
  const ids = new Set<string>();
  const pending: BoundExpression[] = root.items.flatMap((item) =>
    item.kind === 'named' && item.path.join('.') === 'score' ? [item.expression] : [],
  );
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next.kind === 'user-call') ids.add(next.name);
    pending.push(...childrenOf(next));
  }
  const [id] = ids;
  return ids.size === 1 ? id : undefined;
}

/** Undefined when the row has no label, which leaves it out. */
function readLabel(
  row: Row,
  mode: Mode,
): { readonly atom: Atom; readonly names: readonly string[] } | undefined {
  if (mode !== 'multilabel') {
    const atom = scalarOf(row, 'label');
    if (mode === 'regression' && atom !== null && typeof atom !== 'number') regressionTarget(atom);
    return atom === null ? undefined : { atom, names: [] };
  }
  const names = row
    .all('label')
    .flatMap(cellsOf)
    .filter(({ atom }) => atom !== null)
    .map(({ path }) => path.toString());
  return names.length === 0 ? undefined : { atom: null, names: [...new Set(names)] };
}

function readWeight(row: Row): number {
  const atom = scalarOf(row, 'weight');
  if (typeof atom === 'number' && Number.isFinite(atom)) return atom;
  throw failure('DATA_ERROR', 'the weight of a test row must be a finite number');
}

function readScore(row: Row, mode: Mode): number {
  for (const value of row.all('score')) if (value instanceof Row) refuseSeveral(value);
  const atom = scalarOf(row, 'score');
  if (typeof atom === 'number') return atom;
  if (mode === 'regression' && atom === null) return Number.NaN;
  throw failure('DATA_ERROR', 'Classifier returned a NaN score: the score must be a number');
}

/** @throws DATA_ERROR when a row is there instead of a score, and it has several columns */
function refuseSeveral(row: Row): void {
  const names = new Set(cellsOf(row).map(({ path }) => path.toString()));
  if (names.size <= 1) return;
  const shown = [...names].slice(0, 5).join(', ');
  throw failure('DATA_ERROR', `the score must be a number, not a row of columns ${shown}`);
}

/** A score a label; only the last element of each column counts, and it is the label's JSON. */
function readScores(row: Row): LabelledScores[] {
  return row
    .all('score')
    .flatMap((value) => {
      if (value instanceof Scalar) {
        throw failure(
          'DATA_ERROR',
          `the score must be a row with a column for each label, not ${atomToJsonText(value.atom)}`,
        );
      }
      return cellsOf(value);
    })
    .map(({ path, atom }) => {
      const column = path.elements.at(-1) ?? '';
      if (typeof atom !== 'number' || Number.isNaN(atom)) {
        throw failure('DATA_ERROR', `Classifier returned a NaN score for label ${column}`);
      }
      return { label: labelOf(column), column, score: atom };
    });
}

function labelOf(column: string): Exclude<Atom, null> {
  let json: unknown;
  try {
    json = parseJson(column);
  } catch {
    json = undefined;
  }
  if (typeof json === 'string' || typeof json === 'number' || typeof json === 'bigint') return json;
  throw failure(
    'DATA_ERROR',
    `score column ${column} does not name a label: accepted are JSON strings and numbers`,
  );
}

/** The latest value of an output; null when there is none. A row of one member stands for it. */
function scalarOf(row: Row, name: string): Atom {
  const points = row.all(name).flatMap(scalarsOf);
  return points.length === 0 ? null : latestOf(points).atom;
}

function scalarsOf(value: Value): Scalar[] {
  if (value instanceof Scalar) return [value];
  return cellsOf(value).map(({ atom, ts }) => new Scalar(atom, ts));
}
