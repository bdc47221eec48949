import { type Static, Type } from 'typebox';
import { tableReference } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { every } from '../util/every.ts';
import { datasetType, type ViewContext } from './dataset-type.ts';
import { quoteName } from './parameter.ts';
import { BatchEncoder, decodeBatch } from './recorded-batch.ts';
import type { RecordedRow } from './recorded-row.ts';
import { ownRowsContent, recordedRows, viewContent } from './view-content.ts';

const SEED_COUNT = 2 ** 32;

/** Draws between two looks at the cancel flag. */
const DRAWS_PER_CHECK = 65_536;

const ROWS_IN_BATCH = 1024;

const PARAMETERS = Type.Object({
  dataset: tableReference({
    description: 'dataset or FROM text to draw from',
    isNeeded: true,
    default: '',
  }),
  rows: Type.Integer({ description: 'how many rows to draw', default: 0, minimum: 0 }),
  fraction: Type.Number({ description: 'share of the rows to draw, 0 to 1', default: 0 }),
  withReplacement: Type.Boolean({
    description: 'whether a row may be drawn several times',
    default: false,
  }),
  seed: Type.Optional(
    Type.Integer({ description: 'equal seeds draw equal samples; default random', minimum: 0 }),
  ),
});

type SampledParams = Static<typeof PARAMETERS>;

/** A random choice of the rows of a dataset, drawn once. */
export const sampled = datasetType({
  name: 'sampled',
  summary: 'A view of a random choice of the rows of a dataset, drawn when it is created.',
  parameters: PARAMETERS,
  check(params) {
    if (params.dataset === '') {
      throw failure('MISSING_PARAMETER', 'You need to define the dataset key');
    }
    const { rows, fraction } = params;
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
    build: (context) =>
      context.params.withReplacement
        ? ownRowsContent(context, drawRows(context))
        : viewContent(context, drawRows(context), null),
  },
  status: () => null,
});

function drawRows(context: ViewContext<SampledParams>): Iterable<RecordedRow> {
  const { params } = context;
  const source = sourceOf(context);
  const { rowCount } = source;
  const seed = params.seed ?? Math.floor(Math.random() * SEED_COUNT);
  const random = randomFrom(seed);
  const wanted = params.rows || Math.floor(rowCount * params.fraction);
  if (params.withReplacement) {
    const drawn = new Uint32Array(rowCount === 0 ? 0 : wanted);
    for (let i = 0; i < drawn.length; i++) drawn[i] = random(rowCount);
    return rowsInOrder(source, drawn);
  }
  if (wanted > rowCount) {
    throw failure(
      'INVALID_PARAMETER',
      `Requested more rows without replacement than available number of rows: ${wanted} of ${rowCount}`,
    );
  }
  const look = every(DRAWS_PER_CHECK, () => context.checkCancelled());
  return rowsAt(source.rows(), choose(rowCount, wanted, random, look));
}

interface Source {
  readonly rowCount: number;
  rows(): Iterable<RecordedRow>;
}

/** A dataset is read twice; what a FROM text gives may differ each time, so it is kept as bytes. */
function sourceOf({ params, dataset, query, checkCancelled }: ViewContext<SampledParams>): Source {
  const reference = params.dataset;
  if (typeof reference !== 'string') {
    const { id = '' } = reference;
    const rows = query(`SELECT * FROM ${quoteName(id)}`);
    return { rowCount: dataset(id).rowCount, rows: () => recordedRows(rows) };
  }
  const batches: Uint8Array[] = [];
  let rowCount = 0;
  let encoder = new BatchEncoder();
  for (const row of recordedRows(query(`SELECT * FROM ${reference}`))) {
    encoder.add(row);
    rowCount++;
    if (encoder.rowCount < ROWS_IN_BATCH) continue;
    checkCancelled();
    batches.push(encoder.finish());
    encoder = new BatchEncoder();
  }
  batches.push(encoder.finish());
  return {
    rowCount,
    *rows() {
      for (const batch of batches) yield* decodeBatch(batch);
    },
  };
}

/** The first `count` places of a Fisher-Yates shuffle, in the order of the source. */
function choose(
  rowCount: number,
  count: number,
  random: (below: number) => number,
  look: () => void,
): Uint32Array {
  const order = new Uint32Array(rowCount);
  for (let i = 0; i < rowCount; i++) order[i] = i;
  for (let i = 0; i < count; i++) {
    look();
    const other = i + random(rowCount - i);
    const chosen = order[other] as number;
    order[other] = order[i] as number;
    order[i] = chosen;
  }
  return order.subarray(0, count).sort();
}

/** The rows with these numbers, which ascend. */
function* rowsAt(rows: Iterable<RecordedRow>, numbers: Uint32Array): Iterable<RecordedRow> {
  let number = 0;
  let next = 0;
  for (const row of rows) {
    if (next === numbers.length) return;
    if (number++ !== numbers[next]) continue;
    next++;
    yield row;
  }
}

/** The rows with these numbers in their order, where each may come again. */
function* rowsInOrder(source: Source, numbers: Uint32Array): Iterable<RecordedRow> {
  const isDrawn = new Uint8Array(source.rowCount);
  for (const number of numbers) isDrawn[number] = 1;
  const drawn = new Map<number, RecordedRow>();
  let number = 0;
  for (const row of source.rows()) {
    if (isDrawn[number] === 1) drawn.set(number, row);
    number++;
  }
  for (const each of numbers) yield drawn.get(each) as RecordedRow;
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
