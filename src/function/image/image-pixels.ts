// Values of images and volumes, which an expression gives once.
import { type Static, Type } from 'typebox';
import { compileSelect } from '../../exec/prepared-row.ts';
import { ANY_TYPE } from '../../plan/type/type.ts';
import { parseSelectList } from '../../sql/parser/parser.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import { EMPTY_ROW, Embedding, effectiveTs, Row, Scalar, type Value } from '../../value/value.ts';
import { type FunctionContext, functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';

const CHANNEL_COUNT = 3;
/** A call gives 3 * (2n + 1)^3 numbers: 24 million at most. */
const RANGE_MAX = 100;

const PIXELS = Type.Object({
  expression: Type.String({
    description: 'SQL expression of the image, an embedding [y][x], evaluated when it is created',
  }),
});

/** One pixel of an image. */
export const imageReadPixels = functionType({
  name: 'image.readpixels',
  summary: 'The pixel of an image at x and y; the image is an expression.',
  parameters: PIXELS,
  binding: () => 'creation',
  check: checkExpression,
  compile(params, scope) {
    const image = arrayOf(params, scope, 2, '[y][x]');
    const [height = 0, width = 0] = image.shape;
    return {
      input: [inputOf('x', 'y')],
      output: { kind: 'row', members: [{ name: 'value', type: ANY_TYPE }], open: false },
      takesAnyValue: false,
      isLight: false,
      apply(input) {
        const x = clamped(coordinate(input, 'x'), width);
        const y = clamped(coordinate(input, 'y'), height);
        const atom = image.atoms[y * width + x] ?? null;
        return new Row(['value'], [new Scalar(atom, Math.max(image.ts, effectiveTs(input)))]);
      },
    };
  },
});

/** The voxels around one of a volume. */
export const imageProximateVoxels = functionType({
  name: 'image.proximatevoxels',
  summary: 'The voxels of a volume around x, y and z, of three channels each, as one embedding.',
  parameters: Type.Object({
    expression: Type.String({
      description:
        'SQL expression of the volume, an embedding [z][y][x][channel] of three channels, evaluated when it is created',
    }),
    range: Type.Integer({
      description: 'voxels to each side of the middle one',
      minimum: 0,
      maximum: RANGE_MAX,
    }),
  }),
  binding: () => 'creation',
  check: checkExpression,
  compile(params, scope) {
    const volume = arrayOf(params, scope, 4, '[z][y][x][channel]');
    if (volume.shape[3] !== CHANNEL_COUNT) {
      throw failure(
        'INVALID_PARAMETER',
        `params.expression gives ${volume.shape[3]} channels; image.proximatevoxels needs ${CHANNEL_COUNT}`,
      );
    }
    const { range } = params;
    const count = CHANNEL_COUNT * (2 * range + 1) ** 3;
    return {
      input: [inputOf('x', 'y', 'z')],
      output: {
        kind: 'row',
        members: [
          { name: 'value', type: { kind: 'embedding', shape: [count], element: 'number' } },
        ],
        open: false,
      },
      takesAnyValue: false,
      isLight: false,
      apply(input, callScope) {
        const center = ['x', 'y', 'z'].map((name) => coordinate(input, name)) as Point;
        const atoms = voxelsAround(volume, center, range, () => callScope.checkCancelled());
        const ts = Math.max(volume.ts, effectiveTs(input));
        return new Row(['value'], [new Embedding([count], atoms, ts)]);
      },
    };
  },
});

type Point = [x: number, y: number, z: number];

/** From the first x to the last; below it y, z and the channels. Outside of the volume lie zeros. */
function voxelsAround(
  volume: Embedding,
  [x, y, z]: Point,
  range: number,
  check: () => void,
): Atom[] {
  const [depth = 0, height = 0, width = 0] = volume.shape;
  const isInside = (place: number, size: number) => place >= 0 && place < size;
  const atoms: Atom[] = [];
  for (let i = x - range; i <= x + range; i++) {
    check();
    for (let j = y - range; j <= y + range; j++) {
      for (let k = z - range; k <= z + range; k++) {
        const isThere = isInside(i, width) && isInside(j, height) && isInside(k, depth);
        const from = ((k * height + j) * width + i) * CHANNEL_COUNT;
        for (let channel = 0; channel < CHANNEL_COUNT; channel++) {
          atoms.push(isThere ? (volume.atoms[from + channel] ?? 0) : 0);
        }
      }
    }
  }
  return atoms;
}

function checkExpression({ expression }: Static<typeof PIXELS>): void {
  parseSelectList(expression);
}

/** @throws INVALID_PARAMETER unless the expression is an embedding of so many dimensions */
function arrayOf(
  { expression }: Static<typeof PIXELS>,
  { namespace, callScope }: FunctionContext,
  dimensionCount: number,
  form: string,
): Embedding {
  const select = compileSelect(expression, { namespace, scope: callScope });
  if (select.items.length !== 1 || select.items[0]?.kind !== 'named') {
    throw failure('INVALID_PARAMETER', `params.expression must be one expression: ${expression}`);
  }
  const value: Value = select.applyValue(EMPTY_ROW, { scope: callScope });
  if (value instanceof Embedding && value.shape.length === dimensionCount) return value;
  const got =
    value instanceof Embedding
      ? `an embedding of ${value.shape.length} dimensions`
      : value instanceof Row
        ? 'a row'
        : 'a single value';
  throw failure(
    'INVALID_PARAMETER',
    `params.expression must give an embedding ${form} of ${dimensionCount} dimensions; it gives ${got}`,
  );
}

function inputOf(...names: string[]) {
  const members = names.map((name) => ({ name, type: ANY_TYPE }));
  return { kind: 'row', members, open: false } as const;
}

function coordinate(input: Value, name: string): number {
  const value = memberOf(input, name);
  const atom = value instanceof Scalar ? value.atom : null;
  if (typeof atom === 'number' && Number.isInteger(atom)) return atom;
  const got = atom === null ? 'null or no single value' : atomText(atom);
  throw failure('SQL_EXECUTION', `${name} must be an integer; got ${got}`);
}

function clamped(place: number, size: number): number {
  return Math.max(0, Math.min(size - 1, place));
}
