// Labels: what rows teach, in the order that scores follow.
import { failure } from '../util/error.ts';
import type { Atom } from '../value/atom.ts';
import { atomToJsonText } from '../value/json.ts';
import { compareText } from '../value/natural-order.ts';

export const MODES = ['boolean', 'regression', 'categorical', 'multilabel'] as const;
export type Mode = (typeof MODES)[number];

/**
 * Distinct labels by their JSON text, sorted by its bytes: strings, which are quoted, come before
 * numbers, and 10 before 9. These texts name the columns of scores, quotes included.
 * @param look called for each label
 */
export function labelList(labels: Iterable<Atom>, look: () => void = () => undefined): string[] {
  const texts = new Set<string>();
  for (const label of labels) {
    look();
    if (label !== null) texts.add(atomToJsonText(label));
  }
  return [...texts].sort(compareText);
}

/** Position of each label in the list, by JSON text. */
export function labelPositions(list: readonly string[]): Map<string, number> {
  return new Map(list.map((label, index) => [label, index]));
}

/** @throws DATA_ERROR when a label is not a finite number */
export function regressionTarget(label: Exclude<Atom, null>): number {
  const number = typeof label === 'bigint' ? Number(label) : label;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw failure(
    'DATA_ERROR',
    `Regression labels must not be infinite or NaN. Got ${atomToJsonText(label)}; a finite number is needed`,
  );
}

/** Why a training set without usable rows cannot be trained on. */
/** @param work what is done with the rows */
export function noRows(datasetIsEmpty: boolean, work = 'training classifier'): Error {
  const reason = datasetIsEmpty
    ? 'dataset was empty'
    : "all rows were filtered by WHEN, WHERE, OFFSET or LIMIT, or all labels were NULL (or label column doesn't exist)";
  return failure('DATA_ERROR', `Error ${work}: No feature vectors were produced as ${reason}`);
}

/** The refusal of a column that is both feature and label. */
export function labelAmongFeatures(column: string, wildcardPrefix?: string): Error {
  const reason =
    wildcardPrefix === undefined ? '' : ` because of label wildcard '${wildcardPrefix}'`;
  return failure(
    'DATA_ERROR',
    `Dataset column '${column}' cannot be used in both label and feature${reason}`,
  );
}

/** The refusal of several values of one feature in one row. */
export function duplicatedColumn(column: string, row: string): Error {
  return failure(
    'DATA_ERROR',
    `Training dataset cannot have duplicated column '${column}' for row '${row}'`,
  );
}
