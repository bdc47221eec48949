// The frames of all rows, as ranges of positions.
import type { FrameBound, WindowFrame } from '../../../plan/plan.ts';
import { Scalar } from '../../../value/value.ts';
import { type Arrangement, forEachPartition } from './arrangement.ts';

export interface FrameRanges {
  /** the first position of each frame, by position */
  readonly from: Uint32Array;
  /** behind the last one; never before `from` */
  readonly to: Uint32Array;
}

/** Undefined when frames are no ranges of positions: EXCLUDE, and RANGE with an offset. */
export function frameRanges(frame: WindowFrame, arrangement: Arrangement): FrameRanges | undefined {
  if (frame.exclude !== 'no others') return undefined;
  const count = arrangement.order.length;
  const ranges = { from: new Uint32Array(count), to: new Uint32Array(count) };
  const start = boundOf(frame.unit, frame.from, true, arrangement);
  const end = boundOf(frame.unit, frame.to, false, arrangement);
  if (start === undefined || end === undefined) return undefined;
  forEachPartition(arrangement, (first, last) => {
    for (let position = first; position < last; position++) {
      const from = start(position, first, last);
      ranges.from[position] = from;
      ranges.to[position] = Math.max(from, end(position, first, last));
    }
  });
  return ranges;
}

type Bound = (position: number, first: number, last: number) => number;

function boundOf(
  unit: WindowFrame['unit'],
  bound: FrameBound,
  isStart: boolean,
  { groupOf, groupStarts }: Arrangement,
): Bound | undefined {
  const step = isStart ? 0 : 1;
  switch (bound.kind) {
    case 'unbounded':
      return isStart ? (_, first) => first : (_position, _first, last) => last;
    case 'current-row':
      if (unit === 'rows') return (position) => position + step;
      return (position) => groupStarts[(groupOf[position] as number) + step] as number;
    default: {
      const { offset } = bound;
      const value = offset.kind === 'constant' ? offset.value : undefined;
      const atom = value instanceof Scalar ? value.atom : undefined;
      if (unit === 'range' || typeof atom !== 'number') return undefined;
      const shift = (bound.kind === 'preceding' ? -atom : atom) + step;
      if (unit === 'rows') {
        return (position, first, last) => Math.max(first, Math.min(position + shift, last));
      }
      return (position, first, last) => {
        const lastGroup = groupOf[last - 1] as number;
        const group = (groupOf[position] as number) + shift;
        if (group > lastGroup) return last;
        return Math.max(first, groupStarts[Math.max(0, group)] as number);
      };
    }
  }
}
