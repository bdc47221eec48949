import { Type } from 'typebox';
import type { RelationRow } from '../plan/catalog.ts';
import { failure } from '../util/error.ts';
import type { DatasetType, Params, ViewContext } from './dataset-type.ts';
import { quoteName, tableReference } from './parameter.ts';
import { viewContent } from './view-content.ts';

const SEED_COUNT = 2 ** 32;

/** A random choice of the rows of a dataset, drawn once. */
export const sampled: DatasetType = {
  kind: 'dataset',
  name: 'sampled',
  summary: 'A view of a random choice of the rows of a dataset, drawn when it is created.',
  parameters: Type.Object({
    dataset: Type.Optional(tableReference({ description: 'dataset or FROM text to draw from' })),
    rows: Type.Integer({ description: 'how many rows to draw', default: 0, minimum: 0 }),
    fraction: Type.Number({ description: 'share of the rows to draw, 0 to 1', default: 0 }),
    withReplacement: Type.Boolean({
      description: 'whether a row may be drawn several times',
      default: false,
    }),
    seed: Type.Optional(
      Type.Integer({ description: 'equal seeds draw equal samples; default random', minimum: 0 }),
    ),
  }),
  check(params) {
    if (params.dataset === undefined) {
      throw failure('MISSING_PARAMETER', 'You need to define the dataset key');
    }
    const { rows, fraction } = params as { rows: number; fraction: number };
    if (rows !== 0 && fraction !== 0) {
      throw failure(
        'INVALID_PARAMETER',
        "The 'rows' and 'fraction' parameters cannot be set at the same time.",
      );
    }
    if (rows === 0 && (fraction <= 0 || fraction > 1)) {
      throw failure(
        'INVALID_PARAMETER',
        `The 'fraction' parameter needs to be between 0 and 1. Value provided is '${fraction.toFixed(4)}'`,
      );
    }
  },
  view: {
    build: (context) => viewContent(context, drawRows(context), null),
  },
  status: () => null,
};

function drawRows(context: ViewContext): RelationRow[] {
  const { params } = context;
  const source = context.query(`SELECT * FROM ${fromText(params)}`);
  const rows = [...source.scan('all')];
  const seed = (params.seed as number | undefined) ?? Math.floor(Math.random() * SEED_COUNT);
  const random = randomFrom(seed);
  const wanted = (params.rows as number) || Math.floor(rows.length * (params.fraction as number));
  if (params.withReplacement === true) {
    return Array.from(
      { length: rows.length === 0 ? 0 : wanted },
      () => rows[random(rows.length)] as RelationRow,
    );
  }
  if (wanted > rows.length) {
    throw failure(
      'INVALID_PARAMETER',
      `Requested more rows without replacement than available number of rows: ${wanted} of ${rows.length}`,
    );
  }
  return choose(rows, wanted, random);
}

function fromText(params: Params): string {
  const reference = params.dataset as string | { readonly id: string };
  return typeof reference === 'string' ? reference : quoteName(reference.id);
}

/** The first `count` places of a Fisher-Yates shuffle, in the order of the source. */
function choose(
  rows: readonly RelationRow[],
  count: number,
  random: (below: number) => number,
): RelationRow[] {
  const order = rows.map((_, index) => index);
  for (let i = 0; i < count; i++) {
    const other = i + random(order.length - i);
    [order[i], order[other]] = [order[other] as number, order[i] as number];
  }
  const chosen = order.slice(0, count).sort((a, b) => a - b);
  return chosen.map((index) => rows[index] as RelationRow);
}

/** Integers below a bound from a 32-bit xorshift (Marsaglia, "Xorshift RNGs", 2003). */
function randomFrom(seed: number): (below: number) => number {
  let state = (Math.imul(seed % SEED_COUNT, 0x9e3779b1) ^ 0x85ebca6b) >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return Math.floor((state / SEED_COUNT) * below);
  };
}
