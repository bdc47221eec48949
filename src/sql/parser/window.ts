// What follows OVER: a window with its partitions, its order and its frame.
import {
  FRAME_EXCLUSIONS,
  FRAME_UNITS,
  type FrameBoundNode,
  type FrameExclusion,
  type FrameNode,
  type WindowNode,
} from '../node.ts';
import { LEVEL } from '../precedence.ts';
import type { Cursor } from './cursor.ts';

/** Reads `name` or `(…)` after OVER. */
export function parseOver(cursor: Cursor): WindowNode {
  if (cursor.token.symbol === '(') return parseWindow(cursor);
  const { start } = cursor.token;
  const base = cursor.expectIdentifier("the name of a window or '('");
  const none = { partitionBy: [], orderBy: [], frame: undefined };
  return Object.freeze({ kind: 'window', base, ...none, start, end: cursor.end });
}

/** Reads `([name] [PARTITION BY …] [ORDER BY …] [frame])`. */
export function parseWindow(cursor: Cursor): WindowNode {
  const { start } = cursor.token;
  cursor.expectSymbol('(');
  const base = startsBase(cursor) ? cursor.expectIdentifier('the name of a window') : undefined;
  const partitionBy = [];
  if (cursor.acceptKeyword('PARTITION', 'BY')) {
    do {
      partitionBy.push(cursor.grammar.expression(cursor));
    } while (cursor.acceptSymbol(','));
  }
  const orderBy = cursor.acceptKeyword('ORDER', 'BY') ? cursor.grammar.orderKeys(cursor) : [];
  const frame = parseFrame(cursor);
  cursor.expectSymbol(')');
  Object.freeze(partitionBy);
  Object.freeze(orderBy);
  const end = cursor.end;
  return Object.freeze({ kind: 'window', base, partitionBy, orderBy, frame, start, end });
}

function startsBase(cursor: Cursor): boolean {
  const { kind, word } = cursor.token;
  if (kind !== 'name') return false;
  const next = cursor.peek(1);
  if (word === 'PARTITION' || word === 'ORDER') return next.word !== 'BY';
  const isUnit = FRAME_UNITS.some((unit) => unit.toUpperCase() === word);
  return !(isUnit && next.kind !== 'end' && next.symbol !== ')');
}

function parseFrame(cursor: Cursor): FrameNode | undefined {
  const { start } = cursor.token;
  const unit = FRAME_UNITS.find((candidate) => cursor.acceptKeyword(candidate.toUpperCase()));
  if (unit === undefined) return undefined;
  let from: FrameBoundNode;
  let to: FrameBoundNode = { place: 'current-row', offset: undefined };
  if (cursor.acceptKeyword('BETWEEN')) {
    from = parseBound(cursor);
    cursor.expectKeyword('AND');
    to = parseBound(cursor);
  } else {
    from = parseBound(cursor);
  }
  const exclude = parseExclusion(cursor);
  return Object.freeze({ kind: 'frame', unit, from, to, exclude, start, end: cursor.end });
}

function parseBound(cursor: Cursor): FrameBoundNode {
  if (cursor.acceptKeyword('CURRENT', 'ROW')) return bound('current-row');
  if (cursor.acceptKeyword('UNBOUNDED')) {
    if (cursor.acceptKeyword('PRECEDING')) return bound('unbounded-preceding');
    cursor.expectKeyword('FOLLOWING');
    return bound('unbounded-following');
  }
  const offset = cursor.grammar.expression(cursor, LEVEL.sum);
  if (cursor.acceptKeyword('PRECEDING')) return Object.freeze({ place: 'preceding', offset });
  cursor.expectKeyword('FOLLOWING');
  return Object.freeze({ place: 'following', offset });
}

function bound(place: FrameBoundNode['place']): FrameBoundNode {
  return Object.freeze({ place, offset: undefined });
}

function parseExclusion(cursor: Cursor): FrameExclusion {
  if (!cursor.acceptKeyword('EXCLUDE')) return 'no others';
  for (const exclusion of FRAME_EXCLUSIONS) {
    const [first = '', second] = exclusion.toUpperCase().split(' ');
    if (cursor.acceptKeyword(first, second)) return exclusion;
  }
  return cursor.fail();
}
