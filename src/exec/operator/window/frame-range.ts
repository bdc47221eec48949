// The frames of all rows, as ranges of positions.
import type { FrameBound, WindowFrame } from '../../../plan/plan.ts';
import { Scalar } from '../../../value/value.ts';
import { type Arrangement, forEachPartition, peersOf } from './arrangement.ts';

export interface FrameRanges {
  /** the first position of each frame, by position */
  readonly from: Uint32Array;
  /** behind the last one; never before `from` */
  readonly to: Uint32Array;
}

/** Undefined when frames are no ranges of positions: EXCLUDE, and RANGE with an offset. */
export function frameRanges(frame: WindowFrame, arrangement: Arrangement): FrameRanges | undefined {
  if (frame.exclude !== 'no others') return undefined;
  const from = positionsOf(frame.unit, frame.from, true, arrangement);
  const to = positionsOf(frame.unit, frame.to, false, arrangement);
  if (from === undefined || to === undefined) return undefined;
  for (let i = 0; i < to.length; i++) to[i] = Math.max(from[i] as number, to[i] as number);
  return { from, to };
}

function positionsOf(
  unit: WindowFrame['unit'],
  bound: FrameBound,
  isStart: boolean,
  arrangement: Arrangement,
): Uint32Array | undefined {
  const { order } = arrangement;
  const positions = new Uint32Array(order.length);
  const step = isStart ? 0 : 1;
  if (bound.kind === 'unbounded') {
    forEachPartition(arrangement, (first, last) => {
      positions.fill(isStart ? first : last, first, last);
    });
    return positions;
  }
  if (bound.kind === 'current-row') {
    if (unit === 'rows') for (let i = 0; i < positions.length; i++) positions[i] = i + step;
    else {
      const { groupOf, groupStarts } = peersOf(arrangement);
      for (let i = 0; i < positions.length; i++) {
        positions[i] = groupStarts[(groupOf[i] as number) + step] as number;
      }
    }
    return positions;
  }
  const { offset } = bound;
  const value = offset.kind === 'constant' ? offset.value : undefined;
  const atom = value instanceof Scalar ? value.atom : undefined;
  if (unit === 'range' || typeof atom !== 'number') return undefined;
  const shift = (bound.kind === 'preceding' ? -atom : atom) + step;
  if (unit === 'rows') {
    forEachPartition(arrangement, (first, last) => {
      for (let i = first; i < last; i++) {
        positions[i] = Math.max(first, Math.min(i + shift, last));
      }
    });
    return positions;
  }
  const { groupOf, groupStarts } = peersOf(arrangement);
  forEachPartition(arrangement, (first, last) => {
    const lastGroup = groupOf[last - 1] as number;
    for (let i = first; i < last; i++) {
      const group = (groupOf[i] as number) + shift;
      positions[i] =
        group > lastGroup ? last : Math.max(first, groupStarts[Math.max(0, group)] as number);
    }
  });
  return positions;
}
