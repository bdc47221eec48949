// Scores of trained models as columns of a pipeline: the columns of the features go through the
// model at once, and what stands around a score reads it like any other column.
import { sourceOfColumn } from '../../learn/feature/column-source.ts';
import type { SourceColumn } from '../../learn/feature/source.ts';
import { type ScoreCall, scoreCall } from '../../physical/capability.ts';
import { someExpression } from '../../plan/children.ts';
import { cannotFail } from '../../plan/conjunction.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import { expressionsOf, mapExpressionsOf } from '../../plan/map-plan.ts';
import type { PlanNode } from '../../plan/plan.ts';
import { textOfExpression } from '../../plan/text-of-expression.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import {
  type ChunkView,
  ColumnView,
  ConstantChunkView,
  NumericChunkView,
  SparseChunkView,
} from '../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Scalar } from '../../value/value.ts';
import { withOutputNames } from './join/join.ts';
import { materialize, type OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import { type FeatureExpression, featureExpressions, HIDDEN, tableColumn } from './outputs.ts';
import { Pipeline } from './pipeline.ts';
import type { BatchTable, MadeColumn } from './table/batch-table.ts';
import { columnOf, encodeNumberColumn } from './table/encode-column.ts';
import { ExtendedTable } from './table/extended-table.ts';

/** Rows that are scored at once: as many as models encode before they score any. */
const BLOCK_ROW_COUNT = 262_144;

/**
 * A node whose own expressions read scores as columns, and its input with these columns.
 * @throws NotSuited, and what models throw
 */
export function withScores<Node extends PlanNode>(
  node: Node,
  input: Pipeline,
  context: OperatorContext,
): { readonly node: Node; readonly pipeline: Pipeline } {
  const models = context.compiler.runtime.namespace;
  const isCall = (part: BoundExpression) => part.kind === 'user-call';
  if (!expressionsOf(node).some((expression) => someExpression(expression, isCall))) {
    return { node, pipeline: input };
  }
  const calls = new Map<string, { readonly name: string; readonly call: ScoreCall }>();
  let number = 0;
  const read = (part: BoundExpression): BoundExpression => {
    const call = scoreCall(part, models);
    if (call === undefined) return part;
    const text = textOfExpression(part);
    let known = calls.get(text);
    if (known === undefined) {
      while (input.base.find([scoreName(number)]) !== 'absent') number++;
      known = { name: scoreName(number++), call };
      calls.set(text, known);
    }
    const { type, start, end } = part;
    return { kind: 'column', path: [known.name], type, start, end };
  };
  const replaced = mapExpressionsOf(node, (expression) => mapExpression(expression, read)) as Node;
  if (calls.size === 0) return { node, pipeline: input };
  if (context.exactTimestamps) throw new NotSuited();
  return { node: replaced, pipeline: scoredPipeline([...calls.values()], input, context) };
}

const scoreName = (index: number) => `${HIDDEN}score ${index}`;
const featureName = (index: number) => `${HIDDEN}feature ${index}`;

interface NamedCall {
  readonly name: string;
  readonly call: ScoreCall;
}

function scoredPipeline(
  calls: readonly NamedCall[],
  input: Pipeline,
  context: OperatorContext,
): Pipeline {
  const wanted = calls.map(({ call }) => modelFeatures(call, input));
  const { table, features } = featureColumns(wanted, input, context);
  const makers = new Map<string, () => MadeColumn>();
  calls.forEach(({ name, call }, index) => {
    const own = features[index] as readonly (ColumnSnapshot | undefined)[];
    const snapshot = scoreColumn(name, call, own, table.base, context);
    makers.set(name, () => ({ snapshot, ts: MINUS_INFINITY }));
  });
  const { outputs, namer } = table;
  const extended = new ExtendedTable(table.base, makers);
  const column = ([name = '', ...below]: readonly string[]) =>
    makers.has(name) ? tableColumn([name]) : outputs.column([name, ...below]);
  return new Pipeline(extended, { ...outputs, column }, namer, context.tables);
}

/** What a model reads, in the order of its features; undefined: nothing has that name. */
function modelFeatures(
  { items, scores }: ScoreCall,
  { outputs }: Pipeline,
): readonly (BoundExpression | undefined)[] {
  const found = new Map<string, FeatureExpression>();
  for (const feature of featureExpressions(items, [], outputs)) {
    found.set(new Path(feature.path).toString(), feature);
  }
  const names = new Set(scores.names);
  for (const [name, { expression }] of found) {
    // A row with it may fail, though the model does not look at it.
    if (!names.has(name) && !cannotFail(expression)) throw new NotSuited();
  }
  return scores.names.map((name) => found.get(name)?.expression);
}

interface FeatureColumns {
  /** rows that all lie in one table */
  readonly table: Pipeline;
  /** of each call; undefined: no row has a value */
  readonly features: readonly (readonly (ColumnSnapshot | undefined)[])[];
}

/** The features as columns: those of the table itself where its rows are all that there are. */
function featureColumns(
  wanted: readonly (readonly (BoundExpression | undefined)[])[],
  input: Pipeline,
  context: OperatorContext,
): FeatureColumns {
  const isStored = (expression: BoundExpression | undefined) =>
    expression === undefined || expression.kind === 'column' || isNull(expression);
  if (input.isPlain && input.filter === undefined && wanted.flat().every(isStored)) {
    const { scope } = input;
    const columnAt = (expression: BoundExpression | undefined) => {
      if (expression?.kind !== 'column') return undefined;
      const column = scope.find(expression.path);
      if (typeof column !== 'number') throw new NotSuited();
      return scope.columns[column] as ColumnSnapshot;
    };
    return { table: input, features: wanted.map((each) => each.map(columnAt)) };
  }
  const added: FeatureExpression[] = [];
  const names = new Map<string, string>();
  const named = wanted.map((each) =>
    each.map((expression) => {
      if (expression === undefined || isNull(expression)) return undefined;
      const text = textOfExpression(expression);
      const known = names.get(text);
      if (known !== undefined) return known;
      const name = featureName(names.size);
      names.set(text, name);
      added.push({ path: [name], expression });
      return name;
    }),
  );
  const list = suited(input.outputs.list());
  const made = materialize(input, [...list, ...added], context, { named: true });
  const columnAt = (name: string | undefined) => {
    if (name === undefined) return undefined;
    const column = made.base.find([name]);
    if (typeof column !== 'number') throw new NotSuited();
    return made.base.columns[column] as ColumnSnapshot;
  };
  return {
    table: withOutputNames(input, made),
    features: named.map((each) => each.map(columnAt)),
  };
}

function isNull(expression: BoundExpression): boolean {
  if (expression.kind !== 'constant') return false;
  return expression.value instanceof Scalar && expression.value.atom === null;
}

function scoreColumn(
  path: string,
  { scores }: ScoreCall,
  columns: readonly (ColumnSnapshot | undefined)[],
  { chunkRowCounts }: BatchTable,
  { compiler, engine, memory }: OperatorContext,
): ColumnSnapshot {
  const check = () => compiler.runtime.scope.checkCancelled();
  const sources = scores.names.map((name, index): SourceColumn => {
    const column = columns[index];
    if (column === undefined) return { kind: 'nulls', name };
    return sourceInPieces(name, column, memory.arenas, check);
  });
  const parts: ColumnSnapshot[] = [];
  for (let from = 0; from < chunkRowCounts.length; ) {
    let to = from;
    let rowCount = 0;
    while (to < chunkRowCounts.length && (to === from || rowCount < BLOCK_ROW_COUNT)) {
      rowCount += chunkRowCounts[to++] as number;
    }
    check();
    const block = sources.map((source) => piecesOf(source, from, to));
    const values = scores.ofColumns(block, rowCount, {
      parallel: engine.parallel,
      checkCancelled: check,
    });
    const numbers = { values, nulls: undefined };
    const counts = chunkRowCounts.slice(from, to);
    parts.push(encodeNumberColumn([path], numbers, 'number', counts, memory));
    from = to;
  }
  const isInteger = parts.every(({ type }) => type === 'integer');
  const chunks = parts.flatMap((part) => part.chunks);
  return columnOf([path], isInteger ? 'integer' : 'number', chunks);
}

/**
 * A column with a piece for each chunk.
 * @throws NotSuited for a NaN: models take it for missing in a column, and not always in a row
 */
function sourceInPieces(
  name: string,
  column: ColumnSnapshot,
  arenas: ArenaAllocator,
  check: () => void,
): SourceColumn {
  const source = sourceOfColumn(name, column, arenas, undefined, check);
  if (source.kind === 'nulls') return source;
  if (source.kind === 'sparse' || source.pieces.length !== column.chunks.length) {
    throw new NotSuited();
  }
  if (source.kind === 'codes') return source;
  const view = new ColumnView(column, arenas);
  for (let index = 0; index < view.chunkCount; index++) {
    check();
    if (holdsNan(view.chunk(index))) throw new NotSuited();
  }
  return source;
}

function holdsNan(chunk: ChunkView): boolean {
  if (chunk instanceof SparseChunkView) return holdsNan(chunk.values);
  if (chunk instanceof ConstantChunkView) return Number.isNaN(chunk.atom);
  if (!(chunk instanceof NumericChunkView) || chunk.kind === 'int32') return false;
  const { values, rowCount } = chunk;
  for (let row = 0; row < rowCount; row++) {
    if (Number.isNaN(values[row]) && !chunk.isNull(row)) return true;
  }
  return false;
}

function piecesOf(source: SourceColumn, from: number, to: number): SourceColumn {
  switch (source.kind) {
    case 'numbers':
      return { ...source, pieces: source.pieces.slice(from, to) };
    case 'codes':
      return { ...source, pieces: source.pieces.slice(from, to) };
    default:
      return source;
  }
}
