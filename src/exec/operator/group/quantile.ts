// Quantiles of groups: values are grouped with the keys and counted, so each distinct value is sorted
// once, and counts tell where in the order a share of the rows lies.
import { numberAtom } from '../../../builtin/conversion.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall } from '../../../plan/plan.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { constant, Scalar } from '../../../value/value.ts';
import { atomOfGroup, type GroupColumn } from '../../vector/group/group-column.ts';
import type { GroupTable } from '../../vector/group/group-table.ts';
import { NotSuited, suited } from '../not-suited.ts';

/** Values of one group, ascending, and how many rows there are up to each of them. */
interface CountedValues {
  readonly values: readonly number[];
  readonly upTo: readonly number[];
}

/** The value at a share of the rows of a group that has some. */
type Pick = (counted: CountedValues, share: number) => number;

const PICKS: Readonly<Record<string, Pick>> = {
  median: between,
  quantile_cont: between,
  quantile_disc: ({ values, upTo }, share) => {
    const place = Math.max(0, Math.ceil(share * (upTo.at(-1) as number)) - 1);
    return values[indexAt(upTo, place)] as number;
  },
};

/** Between two neighbours where the share falls there. */
function between({ values, upTo }: CountedValues, share: number): number {
  const last = (upTo.at(-1) as number) - 1;
  const place = share * last;
  const low = Math.floor(place);
  const a = values[indexAt(upTo, low)] as number;
  const b = values[indexAt(upTo, Math.min(low + 1, last))] as number;
  return numberAtom(a === b ? a : a + (b - a) * (place - low));
}

/** The index of the value that the row at a place has. */
function indexAt(upTo: readonly number[], place: number): number {
  let from = 0;
  let to = upTo.length - 1;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((upTo[middle] as number) > place) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The call that counts the rows of a group. */
export function countOfRows({ start, end, args: [arg] }: AggregateCall): AggregateCall {
  const one = { ...arg, kind: 'constant', value: constant(1) } as BoundExpression;
  return { name: 'count', args: [one], surface: 'count(*)', start, end };
}

/**
 * The quantiles of groups. @param counted a group for each tuple of `keyCount` keys and value, in
 * order, with the number of its rows
 * @returns undefined for values that are no numbers
 */
export function quantileColumn(
  call: AggregateCall,
  counted: GroupTable,
  groupCount: number,
  keyCount: number,
): GroupColumn | undefined {
  const pick = suited(PICKS[call.name]);
  const share = call.name === 'median' ? 0.5 : shareOf(call.args[1]);
  const [column, counts] = [suited(counted.keys[keyCount]), suited(counted.aggregates[0])];
  const values = new Float64Array(groupCount);
  const nulls = new Uint8Array(groupCount);
  const isSame = sameKeys(counted.keys.slice(0, keyCount));
  let at = 0;
  for (let group = 0; group < groupCount; group++) {
    const first = at;
    const found: number[] = [];
    const upTo: number[] = [];
    let rows = 0;
    for (; at < counted.rowCount && (at === first || isSame(at - 1, at)); at++) {
      const value = atomOfGroup(column, at);
      if (value === null) continue;
      if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
      rows += atomOfGroup(counts, at) as number;
      found.push(value);
      upTo.push(rows);
    }
    if (rows === 0) nulls[group] = 1;
    else values[group] = pick({ values: found, upTo }, share);
  }
  if (at < counted.rowCount) throw new NotSuited();
  return {
    ...{ kind: 'numbers', values, nulls, result: 'number' },
    ...{ timed: undefined, ts: MINUS_INFINITY },
  };
}

function shareOf(expression: BoundExpression | undefined): number {
  const value = expression?.kind === 'constant' ? expression.value : undefined;
  const share = value instanceof Scalar ? value.atom : undefined;
  // The reference says what is wrong with a share.
  if (typeof share !== 'number' || !(share >= 0 && share <= 1)) throw new NotSuited();
  return share;
}

/** Whether two groups have the same keys. */
function sameKeys(keys: readonly GroupColumn[]): (a: number, b: number) => boolean {
  return (a, b) =>
    keys.every((key) => {
      if (key.kind === 'codes') return key.codes[a] === key.codes[b];
      if (key.kind === 'values') return false;
      const isNull = key.nulls?.[a] === 1;
      if (isNull !== (key.nulls?.[b] === 1)) return false;
      return isNull || Object.is(key.values[a], key.values[b]);
    });
}
