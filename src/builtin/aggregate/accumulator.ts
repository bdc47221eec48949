// Sums and choices over values that arrive one by one, shared by the horizontal, temporal and
// vertical aggregates. States are plain objects; merging gives what one sequence would have given.
import { type Atom, compareAtoms } from '../../value/atom.ts';
import { compareSeconds, laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { requireDouble } from '../conversion.ts';

/** Count, sum and latest timestamp. */
export interface SumState {
  count: number;
  sum: number;
  /** what rounding took from the sum */
  lost: number;
  ts: number;
}

export function makeSum(): SumState {
  return { count: 0, sum: 0, lost: 0, ts: MINUS_INFINITY };
}

export function countAtom(state: SumState, ts: number): void {
  state.count++;
  state.ts = laterOf(state.ts, ts);
}

/** @throws SQL_EXECUTION for anything but a number */
export function addToSum(state: SumState, atom: Atom, ts: number): void {
  addExactly(state, requireDouble(atom));
  countAtom(state, ts);
}

/** @see A. Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", 1974 */
function addExactly(state: SumState, x: number): void {
  const sum = state.sum + x;
  state.lost += Math.abs(state.sum) >= Math.abs(x) ? state.sum - sum + x : x - sum + state.sum;
  state.sum = sum;
}

/** The sum with what rounding took from it. */
export function totalOf({ sum, lost }: SumState): number {
  // An infinite sum has lost nothing that is a number.
  return Number.isFinite(sum) ? sum + lost : sum;
}

export function mergeSums(state: SumState, other: SumState): void {
  state.count += other.count;
  addExactly(state, other.sum);
  if (Number.isFinite(other.sum)) state.lost += other.lost;
  state.ts = laterOf(state.ts, other.ts);
}

/** Count, mean and sum of squared differences from it. */
export interface VarianceState {
  count: number;
  mean: number;
  squares: number;
  ts: number;
}

export function makeVariance(): VarianceState {
  return { count: 0, mean: 0, squares: 0, ts: MINUS_INFINITY };
}

/** @see B. P. Welford, "Note on a method for calculating corrected sums of squares", 1962 */
export function addToVariance(state: VarianceState, atom: Atom, ts: number): void {
  const x = requireDouble(atom);
  state.count++;
  const difference = x - state.mean;
  state.mean += difference / state.count;
  state.squares += difference * (x - state.mean);
  state.ts = laterOf(state.ts, ts);
}

/** @see Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm", 1979 */
export function mergeVariances(state: VarianceState, other: VarianceState): void {
  if (other.count > 0) {
    const count = state.count + other.count;
    const difference = other.mean - state.mean;
    state.squares += other.squares + (difference * difference * state.count * other.count) / count;
    state.mean += (difference * other.count) / count;
    state.count = count;
  }
  state.ts = laterOf(state.ts, other.ts);
}

/** The sample variance, NaN below two values. */
export function sampleVariance(state: VarianceState): number {
  return state.count < 2 ? Number.NaN : state.squares / (state.count - 1);
}

/** The value chosen so far; undefined before the first. */
export interface ChoiceState {
  chosen: { readonly atom: Atom; readonly ts: number } | undefined;
}

export function makeChoice(): ChoiceState {
  return { chosen: undefined };
}

/** Negative when the first candidate is to be preferred; 0 keeps the one that came first. */
export type Preference = (atom: Atom, ts: number, otherAtom: Atom, otherTs: number) => number;

export function offer(state: ChoiceState, prefers: Preference, atom: Atom, ts: number): void {
  const { chosen } = state;
  if (chosen === undefined || prefers(atom, ts, chosen.atom, chosen.ts) < 0) {
    state.chosen = { atom, ts };
  }
}

export function mergeChoices(state: ChoiceState, other: ChoiceState, prefers: Preference): void {
  if (other.chosen !== undefined) offer(state, prefers, other.chosen.atom, other.chosen.ts);
}

/** The smallest value, the earliest of equal ones. */
export const preferSmaller: Preference = (a, aTs, b, bTs) =>
  compareAtoms(a, b) || compareSeconds(aTs, bTs);

/** The largest value, the earliest of equal ones. */
export const preferLarger: Preference = (a, aTs, b, bTs) =>
  compareAtoms(b, a) || compareSeconds(aTs, bTs);

/** The smallest timestamp, then the smaller value. */
export const preferEarlier: Preference = (a, aTs, b, bTs) =>
  compareSeconds(aTs, bTs) || compareAtoms(a, b);

/** The largest timestamp, then the smaller value. */
export const preferLater: Preference = (a, aTs, b, bTs) =>
  compareSeconds(bTs, aTs) || compareAtoms(a, b);
