import { type Static, Type } from 'typebox';
import { decodeBatch, encodeBatch } from '../../dataset/recorded-batch.ts';
import { cellsOfRow, type RecordedCell, type RecordedRow } from '../../dataset/recorded-row.ts';
import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import { extractColumns } from '../../exec/vector/extract.ts';
import type { PlanNode, QueryPlan } from '../../plan/plan.ts';
import { OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { type InputQuery, inputQuery, outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { gatherSnapshot } from '../../value/column/gather.ts';
import { compareElements } from '../../value/natural-order.ts';
import { Path } from '../../value/path.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, Row } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import {
  type OutputDataset,
  type ProcedureContext,
  type ProcedureResult,
  workerProcedure,
} from '../procedure-type.ts';
import { checkTrainingQuery } from '../training/training-query.ts';

const ROWS_PER_REPORT = 512;

const PARAMETERS = Type.Object({
  labels: inputQuery({ description: 'the rows; its columns that are not null are labels' }),
  outputDatasets: Type.Array(
    outputDataset({ description: 'one dataset for each split', defaultType: 'tabular' }),
    { description: 'datasets to make' },
  ),
  splits: Type.Array(Type.Number(), { description: 'wanted shares, which add up to 1' }),
  foldImportance: Type.Number({
    description: 'weight of the sizes against the labels',
    default: 1,
  }),
  reproducible: Type.Boolean({
    description: 'shuffle as the seed says; false: the order may differ between versions',
    default: true,
  }),
  randomSeed: Type.Integer({
    description: 'seed of the shuffle; 0: the default one',
    default: 0,
    minimum: 0,
  }),
  ...runOnCreation,
});

type SplitParams = Static<typeof PARAMETERS>;

/** Splits rows into datasets of wanted sizes that all have their share of each label. */
export const split = workerProcedure({
  name: 'split',
  aliases: ['split.train'],
  summary: 'Splits rows into datasets of wanted sizes, each with its share of every label.',
  parameters: PARAMETERS,
  check(params) {
    const { labels } = params;
    checkTrainingQuery(labels, { type: 'split', shape: 'any', allowsGroupBy: true });
  },
  run: (context, params) => run(context, params),
});

function run(context: ProcedureContext, params: SplitParams): ProcedureResult {
  checkSplits(params);
  const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
  progress.next();
  const outputs = params.outputDatasets.map((spec) => context.output(spec, 'tabular'));
  const rows =
    (outputs.every(takesWholeTables) ? storedRows(context, params.labels) : undefined) ??
    readRows(context, params.labels, (count) => progress.update(0.5 * (1 - 1 / (1 + count / 1e5))));
  const order = shuffled(rows.rowCount, params.randomSeed);
  const { folds, incomplete } = assignFolds(rows, order, params);
  progress.update(0.5);
  rows.record(folds, outputs);
  for (const output of outputs) output.commit();
  progress.finish();
  const incompleteLabels = incomplete.map((label) => rows.names[label] as string);
  return { result: { incompleteLabels: incompleteLabels.sort(compareElements) } };
}

/** Tables whose first row decides which columns there are get their rows one by one. */
function takesWholeTables({ takesColumns, ignoresColumns }: OutputDataset): boolean {
  return takesColumns && !ignoresColumns;
}

function checkSplits({ splits, outputDatasets }: SplitParams): void {
  if (splits.length !== outputDatasets.length) {
    throw invalid(
      `Number of splits requested is different than the number of datasets provided: ${splits.length} splits, ${outputDatasets.length} datasets`,
    );
  }
  if (splits.length < 2) throw invalid('Insufficient number of splits: at least 2 are needed');
  const sum = splits.reduce((total, share) => total + share, 0);
  if (Math.abs(1 - sum) > 0.01) {
    throw invalid(`Sum of split factors does not approximate to 1.0, actual sum is: ${sum}`);
  }
}

function invalid(message: string): Error {
  return failure('INVALID_PARAMETER', message);
}

/** Rows in the order of the query. */
interface LabelledRows {
  readonly rowCount: number;
  /** The numbers of the labels of a row; good until the next call. */
  labelsOf(row: number): Uint32Array;
  /** printed names of the labels by number */
  readonly names: readonly string[];
  /** Records each row into the output that is its fold. */
  record(folds: Uint32Array, outputs: readonly OutputDataset[]): void;
}

/** Rows that lie in columns, whose labels are columns; undefined for all others. */
function storedRows(context: ProcedureContext, query: InputQuery): LabelledRows | undefined {
  const { arenas, parallel, namespace, scope } = context;
  const { plan } = context.query(query);
  if (plan.root.kind !== 'project' || plan.root.name !== undefined) return undefined;
  const engine = { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN };
  const extracted = extractColumns(plan, { scalars: {}, namespace, scope, engine });
  if (extracted === undefined || extracted.snapshot.rowCount < VECTOR_ROW_COUNT_MIN) {
    return undefined;
  }
  const { snapshot, selection, features } = extracted;
  const check = () => context.checkCancelled();
  const rowCount = selection?.length ?? snapshot.rowCount;
  const storedRow = (row: number) => (selection === undefined ? row : (selection[row] as number));
  const lacking = features.map(({ column }) =>
    column.nullCount === 0 ? undefined : new ColumnView(column, arenas),
  );
  const all = Uint32Array.from(features, (_, label) => label);
  const some = new Uint32Array(features.length);
  const labelsOf = (row: number) => {
    const stored = storedRow(row);
    let count = 0;
    for (let label = 0; label < lacking.length; label++) {
      if (lacking[label]?.isNull(stored) !== true) some[count++] = label;
    }
    return some.subarray(0, count);
  };
  return {
    rowCount,
    labelsOf: lacking.every((view) => view === undefined) ? () => all : labelsOf,
    names: features.map(({ path }) => path.toString()),
    record(folds, outputs) {
      for (const [fold, output] of outputs.entries()) {
        check();
        const rows = new Uint32Array(rowCount);
        let count = 0;
        for (let row = 0; row < rowCount; row++) {
          if (folds[row] === fold) rows[count++] = storedRow(row);
        }
        const table = gatherSnapshot(snapshot, rows.subarray(0, count), arenas, check);
        // Tables in columns have no name twice.
        output.recordColumns(table, { namesDiffer: true });
      }
    },
  };
}

/** Below this name the result has the whole input row. */
const WHOLE_ROW = '\u0000row';

function readRows(
  context: ProcedureContext,
  query: InputQuery,
  report: (rowCount: number) => void,
): LabelledRows {
  const numbers = new Map<string, number>();
  const labels: Uint32Array[] = [];
  const batches: Uint8Array[] = [];
  let batch: RecordedRow[] = [];
  const prepared = context.query(query, withWholeRow);
  for (const { name, row } of prepared.run()) {
    const own = new Set<number>();
    const position = row.names.indexOf(WHOLE_ROW);
    const visible = new Row(
      row.names.filter((_, index) => index !== position),
      row.values.filter((_, index) => index !== position),
    );
    flatten(visible, [], (path, atom) => {
      if (atom === null) return;
      const key = path.toString();
      let number = numbers.get(key);
      if (number === undefined) {
        number = numbers.size;
        numbers.set(key, number);
      }
      own.add(number);
    });
    labels.push(Uint32Array.from(own));
    const whole = row.values[position];
    batch.push({ name, cells: whole instanceof Row ? cellsOfRow(whole) : [] });
    if (batch.length < ROWS_PER_REPORT) continue;
    context.checkCancelled();
    report(labels.length);
    batches.push(encodeBatch(batch));
    batch = [];
  }
  batches.push(encodeBatch(batch));
  const columns = tableColumns(prepared.plan.root, context);
  return {
    rowCount: labels.length,
    labelsOf: (row) => labels[row] as Uint32Array,
    names: [...numbers.keys()],
    record(folds, outputs) {
      const isStarted = outputs.map(() => false);
      let index = 0;
      for (const each of batches) {
        context.checkCancelled();
        for (const row of decodeBatch(each)) {
          const fold = folds[index++] as number;
          const isFirst = isStarted[fold] === false && outputs[fold]?.takesColumns === true;
          isStarted[fold] = true;
          outputs[fold]?.record(isFirst ? withColumns(row, columns) : row);
        }
      }
    },
  };
}

/** The columns of a table that rows come from; none where rows need not have the same ones. */
function tableColumns(
  node: PlanNode,
  { namespace }: Pick<ProcedureContext, 'namespace'>,
): readonly Path[] {
  if (node.kind === 'scan') {
    const { snapshot } = namespace.dataset(node.dataset);
    if (snapshot?.layout !== 'columnar') return [];
    return snapshot.columns.map(({ path }) => new Path(path));
  }
  switch (node.kind) {
    case 'project':
    case 'filter':
    case 'limit':
    case 'sort':
    case 'distinct-on':
      return tableColumns(node.input, { namespace });
    default:
      return [];
  }
}

/** The first row decides the columns of a table, and their order: those that it lacks are null. */
function withColumns({ name, cells }: RecordedRow, columns: readonly Path[]): RecordedRow {
  const given = new Map(cells.map((cell) => [cell[0].toString(), cell]));
  const ordered = columns.map((column): RecordedCell => {
    const cell = given.get(column.toString());
    given.delete(column.toString());
    return cell ?? [column, null, MINUS_INFINITY];
  });
  return { name, cells: [...ordered, ...given.values()] };
}

/** Adds the input row as a whole to what is selected. */
function withWholeRow(plan: QueryPlan): QueryPlan {
  return { ...plan, root: addWholeRow(plan.root) };
}

function addWholeRow(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'limit':
    case 'sort':
    case 'distinct-on':
      return { ...node, input: addWholeRow(node.input) };
    case 'project': {
      const place = { start: 0, end: 0 };
      const rename = { kind: 'keep' } as const;
      const pattern = { exact: [], prefix: '', excluding: [], rename };
      const all = { kind: 'wildcard', source: 'input', pattern, ...place } as const;
      const expression = { kind: 'row', items: [all], type: OPEN_ROW_TYPE, ...place } as const;
      const item = { kind: 'named', path: [WHOLE_ROW], expression, ...place } as const;
      return { ...node, items: [...node.items, item] };
    }
    default:
      return node;
  }
}

/** The minimal standard generator of Park and Miller, with the multiplier 48271. */
class MinimalStandard {
  static readonly MODULUS = 2_147_483_647;
  #state: number;

  constructor(seed: number) {
    const state = seed % MinimalStandard.MODULUS;
    this.#state = state === 0 ? 1 : state;
  }

  /** An integer in [0, max], every one as likely. */
  below(max: number): number {
    const size = max + 1;
    const step = Math.floor((MinimalStandard.MODULUS - 2) / size);
    for (;;) {
      // The product is below 2^47: doubles hold it exactly.
      this.#state = (this.#state * 48_271) % MinimalStandard.MODULUS;
      const drawn = this.#state - 1;
      if (drawn < size * step) return Math.floor(drawn / step);
    }
  }
}

function shuffled(count: number, seed: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  const random = new MinimalStandard(seed);
  for (let i = 1; i < count; i++) {
    const j = random.below(i);
    const moved = order[i] as number;
    order[i] = order[j] as number;
    order[j] = moved;
  }
  return order;
}

/** In single precision throughout, as the procedure is specified. */
function assignFolds(
  rows: LabelledRows,
  order: Uint32Array,
  { splits, foldImportance }: SplitParams,
): { folds: Uint32Array; incomplete: number[] } {
  const foldCount = splits.length;
  const labelCount = rows.names.length;
  const shares = Float32Array.from(splits);
  const importance = Math.fround(foldImportance);
  const sizes = new Float32Array(foldCount);
  const totals = new Float32Array(labelCount);
  const counts = new Float32Array(labelCount * foldCount);
  const folds = new Uint32Array(rows.rowCount);
  for (let position = 0; position < order.length; position++) {
    const row = order[position] as number;
    let fold = 0;
    let error = 0;
    if (position > 0) {
      for (let f = 0; f < foldCount; f++) {
        const share = Math.fround((sizes[f] as number) / position);
        const own = Math.fround(importance * Math.fround((shares[f] as number) - share));
        if (own <= error) continue;
        error = own;
        fold = f;
      }
    }
    let isDecided = false;
    const labels = rows.labelsOf(row);
    for (const label of labels) {
      const total = totals[label] as number;
      if (total === 0) {
        fold = 0;
        isDecided = true;
        continue;
      }
      if (isDecided) continue;
      const first = label * foldCount;
      let best = -1;
      for (let f = 0; f < foldCount && !isDecided; f++) {
        if (counts[first + f] === 0) {
          best = f;
          isDecided = true;
          break;
        }
        const share = Math.fround((counts[first + f] as number) / total);
        const own = Math.fround((shares[f] as number) - share);
        if (own > error) {
          error = own;
          best = f;
        }
      }
      if (best !== -1) fold = best;
    }
    for (const label of labels) {
      totals[label] = (totals[label] as number) + 1;
      const cell = label * foldCount + fold;
      counts[cell] = (counts[cell] as number) + 1;
    }
    sizes[fold] = (sizes[fold] as number) + 1;
    folds[row] = fold;
  }
  const incomplete: number[] = [];
  for (let label = 0; label < labelCount; label++) {
    const isSeen = (totals[label] as number) > 0;
    if (isSeen && counts[label * foldCount + foldCount - 1] === 0) incomplete.push(label);
  }
  return { folds, incomplete };
}
