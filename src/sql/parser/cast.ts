// The types of CAST, with the names that other databases have for them.
import { CAST_TYPES, type CastType } from '../node.ts';
import type { Cursor } from './cursor.ts';

const TYPE_NAMES: ReadonlyMap<string, CastType> = new Map<string, CastType>([
  ...CAST_TYPES.map((type): [string, CastType] => [type, type]),
  ...(['int', 'bigint', 'smallint', 'tinyint', 'hugeint'] as const).map(toType('integer')),
  ...(['float', 'real', 'double', 'numeric', 'decimal'] as const).map(toType('number')),
  ...(['varchar', 'text', 'char'] as const).map(toType('string')),
  ...(['bool'] as const).map(toType('boolean')),
  ...(['timestamptz', 'datetime'] as const).map(toType('timestamp')),
  ...(['bytea'] as const).map(toType('blob')),
]);

function toType(type: CastType): (name: string) => [string, CastType] {
  return (name) => [name, type];
}

/** Digits that a number can be rounded to. */
const SCALE_MAX = 15;

export interface WrittenType {
  readonly type: CastType;
  readonly scale?: number;
}

/** Reads a type: `decimal(10, 2)`, `varchar(20)`, `double precision`. */
export function parseCastType(cursor: Cursor): WrittenType {
  const { kind, path } = cursor.token;
  if (kind !== 'name') cursor.fail(...CAST_TYPES);
  const written = path.join('.').toLowerCase();
  const type = TYPE_NAMES.get(written);
  if (type === undefined) {
    cursor.failWith({
      message: `Unknown type '${path.join('.')}' for CAST (expected ${[...TYPE_NAMES.keys()].join(', ')})`,
      expected: CAST_TYPES,
    });
  }
  cursor.advance();
  if (written === 'double' && cursor.token.word === 'PRECISION') cursor.advance();
  const takesLength = TYPES_WITH_LENGTH.has(written);
  if (!takesLength || cursor.token.symbol !== '(') return { type };
  cursor.advance();
  readDigits(cursor);
  const isDecimal = type === 'number';
  // A decimal without a scale keeps no digits after the point, as the standard has it.
  const scale = isDecimal && cursor.acceptSymbol(',') ? readDigits(cursor) : 0;
  cursor.expectSymbol(')');
  return isDecimal ? { type, scale } : { type };
}

const TYPES_WITH_LENGTH: ReadonlySet<string> = new Set(['decimal', 'numeric', 'char', 'varchar']);

function readDigits(cursor: Cursor): number {
  const { kind, value } = cursor.token;
  const fits = kind === 'number' && Number.isInteger(value) && (value as number) < 1e6;
  if (!fits) cursor.fail('a number of digits');
  cursor.advance();
  return Math.min(value as number, SCALE_MAX);
}
