// Runs the operators of a physical plan over batches.

import type { PhysicalNode } from '../../physical/physical.ts';
import { someExpression } from '../../plan/children.ts';
import type { BoundExpression, WildcardProjectItem } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import type { RelationRow } from '../../plan/namespace.ts';
import { isWholeRow } from '../../plan/pattern.ts';
import type {
  AggregateNode,
  DistinctOnNode,
  FilterNode,
  GroupingSetsNode,
  JoinNode,
  LimitNode,
  PlanNode,
  ProjectNode,
  RecursiveNode,
  RecursiveTableNode,
  RejoinNode,
  SampleNode,
  SetOperationNode,
  SharedNode,
  SortNode,
  WindowPlanNode,
} from '../../plan/plan.ts';
import type { ColumnRows } from '../column-rows.ts';
import { rejoinRow } from '../general/operator/rejoin.ts';
import { compilePhysical } from '../general/plan.ts';
import type { ExecRow } from '../general/row.ts';
import type { GroupSelection } from '../vector/group/aggregate.ts';
import type { GroupTable } from '../vector/group/group-table.ts';
import type { NumberedRows } from '../vector/numbered-rows.ts';
import { groupPipeline } from './group/aggregate.ts';
import { pipelineOfGroups } from './group/group-pipeline.ts';
import { groupingSets } from './group/grouping-sets.ts';
import { settle, withOutputNames } from './join/join.ts';
import { orderedJoin } from './join/ordered-join.ts';
import { outerJoin } from './join/outer-join.ts';
import { semiJoin } from './join/semi-join.ts';
import { materialize, type OperatorContext } from './materialize.ts';
import { withScores } from './model-scores.ts';
import { NotSuited, orUnsuited, suited } from './not-suited.ts';
import { projectOutputs, wildcardOutputs } from './outputs.ts';
import {
  type ExpressionTable,
  expressionTable,
  filteredRows,
  numberedRows,
} from './pick/dataset-rows.ts';
import { filterPipeline } from './pick/filter.ts';
import { firstRows } from './pick/first-rows.ts';
import { sampleRows } from './pick/sample-rows.ts';
import { type Outputs, Pipeline } from './pipeline.ts';
import {
  finite,
  isBreaker,
  isGroupItem,
  isOfGroups,
  readsLast,
  readsOrder,
  readsShared,
  type Wanted,
} from './plan-parts.ts';
import { pipelineOver, recursion } from './recursion/recursion.ts';
import { madeRows, NO_ROWS, storedRows } from './result-rows.ts';
import { pipelineOfRows, rowDataset } from './rows-source.ts';
import { scanPipeline } from './scan.ts';
import { setOperation } from './set-operation.ts';
import { sliceTable } from './slice.ts';
import { sortPipeline } from './sort.ts';
import { groupedParts, type RowsToGroup, roomForGroups } from './spill/grouped-parts.ts';
import { unorderedJoin } from './spill/joined-parts.ts';
import { subqueryColumn } from './subquery.ts';
import type { MadeTable } from './table/batch-table.ts';
import { windowPipeline } from './window/window.ts';

interface RunnerOptions {
  readonly makesRows?: boolean;
  readonly round?: Round;
}

/** One round of a recursion, run by a runner of its own. */
interface Round {
  readonly runner: PlanRunner;
  /** the rows that came last, by the number of the recursion */
  readonly last: ReadonlyMap<number, MadeTable>;
}

export class PlanRunner {
  readonly #context: OperatorContext;
  readonly #byReference = new Set<PhysicalNode>();
  /** the rows of sub-selects that several places read, by number */
  readonly #shared = new Map<number, Pipeline>();
  /** rows that were opened to be put into groups, before it was known how */
  readonly #opened = new Map<PhysicalNode, RowsToGroup>();

  readonly #makesRows: boolean;
  readonly #round: Round | undefined;
  /** what is the same in all rounds of a recursion, by the operators of its step */
  readonly #unchanged = new Map<PhysicalNode, Pipeline>();

  /** @param options `makesRows`: false: what needs rows of the reference does not suit */
  constructor(context: OperatorContext, { makesRows = true, round }: RunnerOptions = {}) {
    this.#context = context;
    this.#makesRows = makesRows;
    this.#round = round;
  }

  readonly #look = () => this.#context.compiler.runtime.scope.checkCancelled();

  /** Has all expressions below an operator lowered, where no table has rows. */
  lower(physical: PhysicalNode): void {
    if (isOfGroups(physical)) this.groups(physical);
    else if (physical.logical.kind === 'project') this.columns(physical);
    else this.#inOrder(physical);
  }

  /** Tells EXPLAIN what is known only now that everything was opened. */
  finish(): void {
    this.#context.trace?.finish();
  }

  /** The rows of an operator as columns. @param first only so many first ones are read */
  columns(physical: PhysicalNode, first?: number): ColumnRows {
    return this.#within(physical, () => this.#columns(physical, first));
  }

  #within<Made>(physical: PhysicalNode, work: () => Made): Made {
    const { trace } = this.#context;
    return trace === undefined ? work() : trace.within(physical, work);
  }

  #columns(physical: PhysicalNode, first?: number): ColumnRows {
    const start = performance.now();
    const { logical: node, inputs } = physical;
    const [input] = inputs;
    if (node.kind === 'limit' && input !== undefined) {
      const { offset, limit = Number.POSITIVE_INFINITY } = node;
      const end = Math.min(offset + limit, first ?? Number.POSITIVE_INFINITY);
      return this.columns(input, end).slice(offset, end);
    }
    if (node.kind === 'project' && input !== undefined) {
      const groups = this.#groupColumns(node, input, first);
      if (groups !== undefined) {
        this.#context.trace?.named(node, groups, start);
        return groups;
      }
      // Of rows that are left out no expression is evaluated either way.
      if (input.logical.kind === 'limit' && input.way === 'batches') {
        const { offset, limit = Number.POSITIVE_INFINITY } = input.logical;
        const end = Math.min(offset + limit, first ?? Number.POSITIVE_INFINITY);
        const below = { ...physical, inputs: input.inputs };
        const start = performance.now();
        const rows = this.#within(input, () => this.#columns(below, end).slice(offset, end));
        this.#context.trace?.whole(input.logical, rows.rowCount, start);
        return rows;
      }
      const [item] = node.items;
      if (physical.method === 'stored columns' && item?.kind === 'wildcard') {
        return this.#wildcardColumns(node, item, input, first);
      }
    }
    const pipeline = this.#open(physical, { named: true, first, isOrdered: true });
    const outputs = suited(pipeline.outputs.list());
    if (outputs.some(({ presence }) => presence === 'mixed')) throw new NotSuited();
    const { engine, trace, compiler } = this.#context;
    const isStored = outputs.every(({ expression }) => expression.kind === 'column');
    // Columns that are only handed on are not looked at.
    if (compiler.runtime.isDry && isStored) {
      trace?.stored(node, outputs, pipeline);
      return NO_ROWS;
    }
    const stored = storedRows(pipeline, outputs, { engine, look: this.#look, first });
    if (stored !== undefined) {
      trace?.stored(node, outputs, pipeline);
      trace?.whole(node, stored.rowCount, start);
      return stored;
    }
    const options = { named: true, rowCountMax: first };
    const table = materialize(pipeline, outputs, this.#context, options);
    trace?.made(node, outputs, table);
    return suited(madeRows(outputs, table, { engine, look: this.#look }));
  }

  /** A wildcard over a dataset: rows have the columns that they have values for. */
  #wildcardColumns(
    node: ProjectNode,
    item: WildcardProjectItem,
    input: PhysicalNode,
    first: number | undefined,
  ): ColumnRows {
    const pipeline = this.#open(input, { named: true, first, isOrdered: true });
    const outputs = suited(wildcardOutputs(item, pipeline.outputs));
    const { engine, compiler, trace } = this.#context;
    trace?.stored(node, outputs, pipeline);
    if (compiler.runtime.isDry) return NO_ROWS;
    const isDense = outputs.every(({ presence }) => presence === undefined);
    const hasAll = isDense && isWholeRow(item.pattern);
    const options = { engine, look: this.#look, first, leavesOutNulls: !hasAll };
    return suited(storedRows(pipeline, outputs, options));
  }

  /** Keys and aggregates of groups under other names: nothing is copied once more. */
  #groupColumns(
    { items }: ProjectNode,
    input: PhysicalNode,
    first: number | undefined,
  ): ColumnRows | undefined {
    if (!isOfGroups(input) || !items.every(isGroupItem)) return undefined;
    const names = new Set(items.map(({ path }) => path[0]));
    if (names.size < items.length) return undefined;
    return this.#firstGroups(input, first)?.detached().project(items);
  }

  /** Undefined when aggregates are not sorted where they are accumulated. */
  #firstGroups(physical: PhysicalNode, first?: number): GroupTable | undefined {
    return orUnsuited(() => this.groups(physical, first));
  }

  /** Groups in their order. @param first only so many first ones are read */
  groups(physical: PhysicalNode, first = Number.POSITIVE_INFINITY): GroupTable {
    const { trace } = this.#context;
    const start = performance.now();
    const groups = this.#within(physical, () => this.#orderedGroups(physical, first));
    trace?.whole(physical.logical, groups.rowCount, start);
    trace?.groups(physical, groups);
    return groups;
  }

  #orderedGroups(physical: PhysicalNode, first: number): GroupTable {
    const { logical: node, inputs } = physical;
    const input = suited(inputs[0]);
    if (node.kind === 'limit') {
      const { offset, limit = Number.POSITIVE_INFINITY } = node;
      const end = Math.min(offset + limit, first);
      const groups = this.groups(input, end);
      return groups.slice(Math.min(offset, groups.rowCount), Math.min(end, groups.rowCount));
    }
    if (node.kind === 'sort') {
      const { keys: sortKeys, keep = Number.POSITIVE_INFINITY } = node;
      return this.#group(input, { sortKeys, isOrdered: true, keep: finite(Math.min(keep, first)) });
    }
    return this.#group(physical, { sortKeys: [], isOrdered: true, keep: finite(first) });
  }

  #group(physical: PhysicalNode, selection: GroupSelection): GroupTable {
    return this.#within(physical, () => this.#groupWithin(physical, selection));
  }

  #groupWithin(physical: PhysicalNode, selection: GroupSelection): GroupTable {
    const { node, pipeline } = this.#groupedRows(physical);
    if (roomForGroups(node, pipeline, this.#context) !== undefined) {
      this.#opened.set(physical, { node, pipeline });
      throw new NotSuited();
    }
    const isTwice = physical.method === 'grouped twice';
    return groupPipeline(node, pipeline, this.#context, selection, isTwice);
  }

  #groupedRows(physical: PhysicalNode): RowsToGroup {
    const opened = this.#opened.get(physical);
    this.#opened.delete(physical);
    if (opened !== undefined) return opened;
    const { logical: node, inputs } = physical;
    if (node.kind !== 'aggregate') throw new NotSuited();
    const wanted = { named: false, first: undefined, isOrdered: readsOrder(node, this.#context) };
    return withScores(node, this.#open(suited(inputs[0]), wanted), this.#context);
  }

  /** Rows of a dataset in the order of their numbers, made when they are read. */
  numberedRows(physical: PhysicalNode): NumberedRows {
    return numberedRows(physical, this.#inOrder(physical), this.#context);
  }

  /** The same for a filter, chunk by chunk. @param release called when no more rows are read */
  filteredRows(physical: PhysicalNode, release: () => void): Iterable<ExecRow> {
    return filteredRows(physical, this.#inOrder(physical), release, this.#context);
  }

  /**
   * Expressions about the rows of an operator, put into a table: its columns stand in their order.
   * @param choose makes them of what the operator gives
   * @throws NotSuited, and what expressions throw
   */
  table(
    physical: PhysicalNode,
    choose: (outputs: Outputs) => readonly BoundExpression[],
  ): ExpressionTable {
    return expressionTable(this.#inOrder(physical), choose, this.#context);
  }

  /** All rows of an operator in their order, with their names. */
  #inOrder(physical: PhysicalNode): Pipeline {
    return this.#open(physical, { named: true, first: undefined, isOrdered: true });
  }

  #open(physical: PhysicalNode, wanted: Wanted): Pipeline {
    const { trace } = this.#context;
    if (trace === undefined) return this.#openNode(physical, wanted);
    const start = performance.now();
    const pipeline = trace.within(physical, () => this.#openNode(physical, wanted));
    if (this.#byReference.has(physical)) return pipeline;
    // What is known of rows that go on batch by batch is only how they go on.
    const isWhole = pipeline.isPlain && pipeline.filter === undefined && isBreaker(physical);
    if (isWhole) trace.whole(physical.logical, pipeline.base.rowCount, start);
    trace.opened(physical.logical, pipeline);
    return pipeline;
  }

  #openNode(physical: PhysicalNode, wanted: Wanted): Pipeline {
    const { logical } = physical;
    if (this.#round !== undefined && logical.kind !== 'scan' && !readsLast(logical)) {
      return this.#round.runner.#unchangedRows(physical, this.#context);
    }
    if (physical.way === 'rows') return this.#rows(physical);
    const { logical: node } = physical;
    switch (node.kind) {
      case 'scan':
        return scanPipeline(node, this.#context);
      case 'filter':
        return this.#filter(node, physical, { ...wanted, first: undefined });
      case 'project':
        return this.#project(node, physical, wanted);
      case 'rejoin':
        return this.#rejoin(node, physical, wanted);
      default:
        return this.#openOrRows(physical, wanted);
    }
  }

  #openOrRows(physical: PhysicalNode, wanted: Wanted): Pipeline {
    try {
      return this.#gather(physical, wanted);
    } catch (thrown) {
      // Row numbers are of no use where rows have to be made.
      if (thrown instanceof NotSuited && physical.way === 'batches') return this.#rows(physical);
      throw thrown;
    }
  }

  #gather(physical: PhysicalNode, wanted: Wanted): Pipeline {
    const { logical: node } = physical;
    switch (node.kind) {
      case 'aggregate':
        return this.#aggregate(node, physical, wanted);
      case 'join':
        return this.#join(node, physical, wanted);
      case 'limit':
        return this.#limit(node, physical, wanted);
      case 'sort':
        return this.#sort(node, physical, wanted);
      case 'distinct-on':
        return this.#firstOfGroups(node, physical);
      case 'row-dataset':
        return rowDataset(node, this.#context);
      case 'sample':
        return this.#sample(node, physical);
      case 'window':
        return this.#window(node, physical);
      case 'set-operation':
        return this.#setOperation(node, physical, wanted);
      case 'grouping-sets':
        return this.#groupingSets(node, physical, wanted);
      case 'shared':
        return this.#sharedRows(node);
      case 'recursive':
        return this.#recursion(node, physical, wanted);
      case 'recursive-table':
        return this.#lastRows(node);
      default:
        throw new NotSuited();
    }
  }

  /** The rows of a recursion, in rounds that look at the rows before them. */
  #recursion(node: RecursiveNode, { inputs }: PhysicalNode, { first }: Wanted): Pipeline {
    const [base, step] = [suited(inputs[0]), suited(inputs[1])];
    const wanted = { named: false, first: undefined, isOrdered: true };
    const outer = this.#round?.last ?? new Map<number, MadeTable>();
    const open = (part: PhysicalNode, context: OperatorContext, last: Round['last']) => {
      const options = { makesRows: this.#makesRows, round: { runner: this, last } };
      return new PlanRunner(context, options).#open(part, wanted);
    };
    const parts = {
      base: (context: OperatorContext) => open(base, context, outer),
      step: (rows: MadeTable, context: OperatorContext) =>
        open(step, context, new Map([...outer, [node.table, rows]])),
    };
    return recursion(node, parts, first, this.#context);
  }

  #lastRows({ table }: RecursiveTableNode): Pipeline {
    return pipelineOver(suited(this.#round?.last.get(table)), this.#context);
  }

  /** The rows of a part of a step that reads none of the recursion, which are made once. */
  #unchangedRows(physical: PhysicalNode, { tables }: OperatorContext): Pipeline {
    let made = this.#unchanged.get(physical);
    if (made === undefined) {
      const rows = this.#inOrder(physical);
      made = settle(rows, this.#context);
      this.#unchanged.set(physical, made);
    }
    return new Pipeline(made.base, made.outputs, made.namer, tables);
  }

  #join(node: JoinNode, { inputs, method }: PhysicalNode, { named, first }: Wanted): Pipeline {
    const isOrdered = method === 'ordered join';
    const isSemi = method === 'semi join';
    const wanted = { named: named || isOrdered, first: undefined, isOrdered: false };
    // Rows of a semi join come in the order of its left side, as pairs do where all are tried.
    const keepsOrder = isSemi || method === 'nested loops';
    const left = this.#open(suited(inputs[0]), { ...wanted, isOrdered: keepsOrder });
    const right = this.#open(suited(inputs[1]), { ...wanted, isOrdered: keepsOrder && !isSemi });
    switch (method) {
      case 'outer join':
        return outerJoin(node, left, right, this.#context);
      case 'semi join':
        return semiJoin(node, left, right, this.#context);
      case 'ordered join':
        return orderedJoin(node, { left, right }, first, this.#context);
      default:
        return unorderedJoin(node, { left, right }, named, this.#context);
    }
  }

  /** The same rows: only what they are called is put together anew. */
  #rejoin({ shape }: RejoinNode, { inputs }: PhysicalNode, wanted: Wanted): Pipeline {
    const pipeline = this.#open(suited(inputs[0]), { ...wanted, isOrdered: false });
    const { namer } = pipeline;
    const rebuild = rejoinRow(shape);
    pipeline.namer = (rowOf) => rebuild(namer(rowOf));
    return pipeline;
  }

  /** The rows of a sub-select, which is run for the first who reads it. */
  #sharedRows({ subquery }: SharedNode): Pipeline {
    const { compiler, tables } = this.#context;
    const { planner, subqueryPlans } = compiler.runtime;
    let made = this.#shared.get(subquery);
    if (made === undefined) {
      const physical = planner.batches(suited(subqueryPlans[subquery]));
      const rows = this.#inOrder(physical);
      made = settle(rows, this.#context);
      this.#shared.set(subquery, made);
    }
    return new Pipeline(made.base, made.outputs, made.namer, tables);
  }

  /** The first rows of a sub-select that runs once, in this run where it shares rows with it. */
  #rowsOfSubquery(subquery: number, rowCountMax: number): Iterable<RelationRow> {
    const { runtime } = this.#context.compiler;
    const plan = suited(runtime.subqueryPlans[subquery]);
    const physical = readsShared(plan) ? runtime.planner.batches(plan) : undefined;
    return physical?.way === 'batches'
      ? this.columns(physical, rowCountMax)
      : runtime.subqueryRows(subquery);
  }

  #filter(node: FilterNode, { inputs }: PhysicalNode, wanted: Wanted): Pipeline {
    const { named } = wanted;
    const input = this.#open(suited(inputs[0]), wanted);
    const test = this.#withoutSubqueries(node.condition, input);
    const scored = withScores({ ...node, condition: test }, input, this.#context);
    const { pipeline } = scored;
    const condition = suited(pipeline.resolve(scored.node.condition));
    return filterPipeline(pipeline, condition, named, this.#context);
  }

  #aggregate(node: AggregateNode, physical: PhysicalNode, wanted: Wanted): Pipeline {
    const { isOrdered, named, first } = wanted;
    const keep = isOrdered ? first : undefined;
    const rows = this.#groupedRows(physical);
    const isTwice = physical.method === 'grouped twice';
    const parted = groupedParts(rows, { first: keep, isTwice }, this.#context);
    if (parted !== undefined) return parted;
    this.#opened.set(physical, rows);
    const made = this.#group(physical, { sortKeys: [], isOrdered, keep });
    this.#context.trace?.groups(physical, made);
    return pipelineOfGroups(node, made, named, this.#context);
  }

  #limit({ offset, limit }: LimitNode, { inputs }: PhysicalNode, { named }: Wanted): Pipeline {
    const rowCountMax = limit === undefined ? undefined : offset + limit;
    const wanted = { named, first: rowCountMax, isOrdered: true };
    const pipeline = this.#open(suited(inputs[0]), wanted);
    const list = suited(pipeline.outputs.list());
    const table = materialize(pipeline, list, this.#context, { named, rowCountMax });
    return withOutputNames(pipeline, sliceTable(table, offset, rowCountMax, this.#context));
  }

  #sample(node: SampleNode, { inputs }: PhysicalNode): Pipeline {
    return sampleRows(node, this.#inOrder(suited(inputs[0])), this.#context);
  }

  #window(node: WindowPlanNode, { inputs }: PhysicalNode): Pipeline {
    const input = this.#inOrder(suited(inputs[0]));
    const scored = withScores(node, input, this.#context);
    return windowPipeline(scored.node, scored.pipeline, this.#context);
  }

  #setOperation(node: SetOperationNode, { inputs }: PhysicalNode, { named }: Wanted): Pipeline {
    const open = (index: number) =>
      this.#open(suited(inputs[index]), { named, first: undefined, isOrdered: true });
    return setOperation(node, open(0), open(1), named, this.#context);
  }

  #groupingSets(
    node: GroupingSetsNode,
    { inputs, method }: PhysicalNode,
    { named }: Wanted,
  ): Pipeline {
    const isOrdered = readsOrder(node, this.#context);
    const input = this.#open(suited(inputs[0]), { named: false, first: undefined, isOrdered });
    const scored = withScores(node, input, this.#context);
    const isTwice = method === 'grouped twice';
    return groupingSets(scored.node, scored.pipeline, { named, isTwice }, this.#context);
  }

  /** The same expression with sub-selects as constants or as columns of the pipeline. */
  #withoutSubqueries(expression: BoundExpression, pipeline: Pipeline): BoundExpression {
    if (!someExpression(expression, ({ kind }) => kind === 'subquery')) return expression;
    // What their values are decides how they are compared.
    if (this.#context.compiler.runtime.isDry) throw new NotSuited();
    const open = (node: PlanNode) =>
      this.#open(this.#context.compiler.runtime.planner.batches(node), {
        named: false,
        first: undefined,
        isOrdered: false,
      });
    const runs = {
      open,
      rows: (subquery: number, most: number) => this.#rowsOfSubquery(subquery, most),
    };
    return mapExpression(expression, (part) =>
      part.kind === 'subquery' ? subqueryColumn(part, pipeline, runs, this.#context) : part,
    );
  }

  #project(node: ProjectNode, { inputs }: PhysicalNode, wanted: Wanted): Pipeline {
    const input = this.#open(suited(inputs[0]), wanted);
    const items = node.items.map((item) =>
      item.kind === 'named'
        ? { ...item, expression: this.#withoutSubqueries(item.expression, input) }
        : item,
    );
    const scored = withScores({ ...node, items }, input, this.#context);
    scored.pipeline.outputs = suited(projectOutputs(scored.node, scored.pipeline.outputs));
    return scored.pipeline;
  }

  #sort(node: SortNode, physical: PhysicalNode, { named }: Wanted): Pipeline {
    const { inputs, method } = physical;
    const input = suited(inputs[0]);
    if (method === 'sorted groups' && input.logical.kind === 'aggregate') {
      const groups = this.#firstGroups(physical);
      if (groups !== undefined) {
        return pipelineOfGroups(input.logical, groups, named, this.#context);
      }
    }
    const isOrdered = node.ties === 'input-order';
    const pipeline = this.#open(input, { named: true, first: undefined, isOrdered });
    const scored = withScores(node, pipeline, this.#context);
    return sortPipeline(scored.node, scored.pipeline, this.#context);
  }

  /** Of the rows of a dataset that DISTINCT ON puts together the least one, without sorting. */
  #firstOfGroups(node: DistinctOnNode, { inputs: [sort] }: PhysicalNode): Pipeline {
    if (sort?.logical.kind !== 'sort') throw new NotSuited();
    const wanted = { named: true, first: undefined, isOrdered: false };
    return firstRows(node, sort.logical, this.#open(suited(sort.inputs[0]), wanted), this.#context);
  }

  /** The rows of a node by the reference. */
  #rows(physical: PhysicalNode): Pipeline {
    if (!this.#makesRows || readsLast(physical.logical)) throw new NotSuited();
    const { runtime } = this.#context.compiler;
    // It was left to the reference for want of rows to lower it by.
    if (runtime.isDry && physical.way !== 'rows') throw new NotSuited();
    const { logical: node } = physical;
    const byReference =
      physical.way === 'rows'
        ? physical
        : runtime.planner.rows(node, { choice: 'batches', because: 'its input did not suit' });
    const source = compilePhysical(byReference, runtime);
    // What they would be is not known before they are made.
    if (runtime.isDry) throw new NotSuited();
    const made = pipelineOfRows(node, source(), this.#context);
    this.#byReference.add(physical);
    return made;
  }
}
