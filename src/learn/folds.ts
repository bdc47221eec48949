// Dealing rows out to folds.
import { compareText } from '../value/natural-order.ts';
import { textHash } from './random.ts';

export interface FoldRow {
  readonly name: string;
  /** what is spread evenly over the folds */
  readonly stratum: string;
  /** rows of one group stay together; absent: each row is a group */
  readonly group?: string;
}

/**
 * The fold of each row. Rows of a stratum are ordered by a hash of their names and dealt out in
 * turn, going on where the stratum before stopped: sizes differ by at most 1, and so does the count
 * of each stratum. Groups are placed largest first, where there is most room.
 */
export function dealFolds(
  rows: readonly FoldRow[],
  foldCount: number,
  seed: number,
  look: () => void = () => undefined,
): Uint32Array {
  const hashes = rows.map(({ name }) => textHash(name, seed));
  const byHash = (a: number, b: number) => {
    look();
    const difference = (hashes[a] as number) - (hashes[b] as number);
    return difference || compareText(rows[a]?.name ?? '', rows[b]?.name ?? '');
  };
  return rows.some(({ group }) => group !== undefined)
    ? placeGroups(rows, foldCount, byHash)
    : dealStrata(rows, foldCount, byHash);
}

function dealStrata(
  rows: readonly FoldRow[],
  foldCount: number,
  byHash: (a: number, b: number) => number,
): Uint32Array {
  const folds = new Uint32Array(rows.length);
  let next = 0;
  for (const members of grouped(rows, ({ stratum }) => stratum)) {
    for (const row of members.sort(byHash)) {
      folds[row] = next;
      next = (next + 1) % foldCount;
    }
  }
  return folds;
}

function placeGroups(
  rows: readonly FoldRow[],
  foldCount: number,
  byHash: (a: number, b: number) => number,
): Uint32Array {
  const folds = new Uint32Array(rows.length);
  const groups = grouped(rows, ({ group, name }) => group ?? name);
  const first = groups.map((members) => members.reduce((a, b) => (byHash(a, b) <= 0 ? a : b)));
  const order = [...groups.keys()].sort(
    (a, b) =>
      (groups[b]?.length ?? 0) - (groups[a]?.length ?? 0) ||
      byHash(first[a] as number, first[b] as number),
  );
  const sizes = new Array<number>(foldCount).fill(0);
  for (const index of order) {
    const members = groups[index] as number[];
    const fold = sizes.indexOf(Math.min(...sizes));
    for (const row of members) folds[row] = fold;
    sizes[fold] = (sizes[fold] as number) + members.length;
  }
  return folds;
}

/** Row numbers by key, keys in the order of their text. */
function grouped(rows: readonly FoldRow[], keyOf: (row: FoldRow) => string): number[][] {
  const groups = new Map<string, number[]>();
  for (const [index, row] of rows.entries()) {
    const key = keyOf(row);
    const members = groups.get(key);
    if (members === undefined) groups.set(key, [index]);
    else members.push(index);
  }
  return [...groups].sort(([a], [b]) => compareText(a, b)).map(([, members]) => members);
}

/** The tenth of each value among all of them: what stands for the label of a number. */
export function deciles(values: readonly number[]): number[] {
  const order = [...values.keys()].sort(
    (a, b) => (values[a] as number) - (values[b] as number) || a - b,
  );
  const result = new Array<number>(values.length).fill(0);
  for (const [position, row] of order.entries()) {
    result[row] = Math.floor((position * 10) / values.length);
  }
  return result;
}
