// Runs the nodes of a plan as operators over batches.
import { someExpression } from '../../plan/children.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import type {
  AggregateNode,
  FilterNode,
  GroupingSetsNode,
  JoinNode,
  LimitNode,
  PlanNode,
  ProjectNode,
  ScanNode,
  SetOperationNode,
  SortNode,
  WindowPlanNode,
} from '../../plan/plan.ts';
import { rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import type { Path } from '../../value/path.ts';
import type { ColumnRows } from '../column-rows.ts';
import type { ExecRow } from '../general/row.ts';
import type { GroupTable } from '../vector/group/group-table.ts';
import { VectorTable } from '../vector/table.ts';
import { groupPipeline } from './aggregate.ts';
import { pipelineOfGroups } from './group-pipeline.ts';
import { groupingSets } from './grouping-sets.ts';
import { fullJoin } from './join/full-join.ts';
import { joinPipelines, withOutputNames } from './join/join.ts';
import { orderedJoin } from './join/ordered-join.ts';
import { semiJoin } from './join/semi-join.ts';
import { materialize, type OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import {
  datasetOutputs,
  groupOutputs,
  madeOutputs,
  projectOutputs,
  tableColumn,
  windowName,
} from './outputs.ts';
import { type Outputs, Pipeline } from './pipeline.ts';
import { madeRows, storedRows } from './result-rows.ts';
import { tableOfRows } from './rows-source.ts';
import { setOperation } from './set-operation.ts';
import { sliceTable } from './slice.ts';
import { sortPipeline } from './sort.ts';
import { subqueryColumn } from './subquery.ts';
import type { MadeTable } from './table/batch-table.ts';
import { windowPipeline } from './window/window.ts';

/** What is wanted of the rows of a node. */
interface Wanted {
  /** their names can be asked for */
  readonly named: boolean;
  /** only so many first ones are read */
  readonly first: number | undefined;
  /** false: they may come in any order */
  readonly isOrdered: boolean;
}

export class PlanRunner {
  readonly #context: OperatorContext;
  readonly #byReference = new Set<PlanNode>();

  readonly #referenceRows: (node: PlanNode) => Iterable<ExecRow>;

  constructor(context: OperatorContext, referenceRows: (node: PlanNode) => Iterable<ExecRow>) {
    this.#context = context;
    this.#referenceRows = referenceRows;
  }

  /** The rows of a node as columns. @param first only so many first ones are read */
  columns(node: PlanNode, first?: number): ColumnRows {
    if (node.kind === 'limit') {
      const { offset, limit = Number.POSITIVE_INFINITY } = node;
      const end = Math.min(offset + limit, first ?? Number.POSITIVE_INFINITY);
      return this.columns(node.input, end).slice(offset, end);
    }
    // Of rows that are left out no expression is evaluated either way.
    if (node.kind === 'project' && node.input.kind === 'limit') {
      const { input } = node;
      return this.columns({ ...input, input: { ...node, input: input.input } }, first);
    }
    const pipeline = this.#open(node, { named: true, first, isOrdered: true });
    const outputs = suited(pipeline.outputs.list());
    if (outputs.some(({ path }) => path.length !== 1)) throw new NotSuited();
    const { compiler, engine } = this.#context;
    const look = () => compiler.runtime.scope.checkCancelled();
    const stored = storedRows(pipeline, outputs, { engine, look, first });
    if (stored !== undefined) return stored;
    const options = { named: true, rowCountMax: first };
    const table = materialize(pipeline, outputs, this.#context, options);
    return suited(madeRows(outputs, table, { engine, look }));
  }

  /**
   * Expressions about the rows of a node, put into a table: its columns stand in their order.
   * @param choose makes them of what the node gives
   * @throws NotSuited, and what expressions throw
   */
  table(
    node: PlanNode,
    choose: (outputs: Outputs) => readonly BoundExpression[],
  ): Pick<MadeTable, 'rowCount' | 'nameAt'> & { readonly columns: readonly ColumnSnapshot[] } {
    const pipeline = this.#open(node, { named: true, first: undefined, isOrdered: true });
    const outputs = choose(pipeline.outputs).map((expression, index) => {
      return { path: [String(index)], expression };
    });
    const { base, namer } = materialize(pipeline, outputs, this.#context, { named: true });
    const columns = outputs.map(({ path }) => {
      const column = base.find(path);
      if (typeof column !== 'number') throw new NotSuited();
      return base.columns[column] as ColumnSnapshot;
    });
    return { rowCount: base.rowCount, columns, nameAt: (row) => namer(() => row) };
  }

  groups(node: AggregateNode, isOrdered = true): GroupTable {
    const input = this.#open(node.input, { named: false, first: undefined, isOrdered: false });
    return groupPipeline(node, input, this.#context, isOrdered);
  }

  #open(node: PlanNode, wanted: Wanted): Pipeline {
    const { observe } = this.#context.compiler.runtime;
    if (observe === undefined) return this.#openNode(node, wanted);
    const start = performance.now();
    const pipeline = this.#openNode(node, wanted);
    // What is known of rows that go on batch by batch is only how they go on.
    if (node.kind !== 'scan' && !this.#byReference.has(node)) observe(node, { path: 'vector' });
    if (pipeline.isPlain && pipeline.filter === undefined && isBreaker(node)) {
      const milliseconds = performance.now() - start;
      observe(node, { rowCount: pipeline.base.rowCount, milliseconds });
    }
    return pipeline;
  }

  #openNode(node: PlanNode, wanted: Wanted): Pipeline {
    switch (node.kind) {
      case 'scan':
        return this.#scan(node);
      case 'filter':
        return this.#filter(node, { ...wanted, first: undefined });
      case 'project':
        return this.#project(node, wanted);
      case 'aggregate':
      case 'join':
      case 'limit':
      case 'sort':
      case 'window':
      case 'set-operation':
      case 'grouping-sets':
        return this.#openOrRows(node, wanted);
      // A table with a column for each row of the dataset would be as wide as it is long.
      case 'transpose':
        throw new NotSuited();
      default:
        return this.#rows(node);
    }
  }

  #openOrRows(
    node: PlanNode & {
      kind: 'aggregate' | 'join' | 'limit' | 'sort' | 'window' | 'set-operation' | 'grouping-sets';
    },
    wanted: Wanted,
  ): Pipeline {
    try {
      if (node.kind === 'aggregate') return this.#aggregate(node, wanted);
      if (node.kind === 'limit') return this.#limit(node, wanted);
      if (node.kind === 'sort') return this.#sort(node);
      if (node.kind === 'window') return this.#window(node);
      if (node.kind === 'set-operation') return this.#setOperation(node, wanted);
      if (node.kind === 'grouping-sets') return this.#groupingSets(node, wanted);
      return this.#join(node, wanted);
    } catch (thrown) {
      if (thrown instanceof NotSuited) return this.#rows(node);
      throw thrown;
    }
  }

  #join(node: JoinNode, { named, first }: Wanted): Pipeline {
    const isOrdered = node.order === 'value' && node.equalities.length > 0;
    const isSemi = node.joinKind === 'semi' || node.joinKind === 'anti';
    const wanted = { named: named || isOrdered, first: undefined, isOrdered: false };
    // Rows of a semi join come in the order of its left side, as pairs do where all are tried.
    const keepsOrder = (isSemi || node.equalities.length === 0) && !isOrdered;
    const left = this.#open(node.left.input, { ...wanted, isOrdered: keepsOrder });
    const right = this.#open(node.right.input, { ...wanted, isOrdered: keepsOrder && !isSemi });
    if (node.joinKind === 'full') return fullJoin(node, left, right, this.#context);
    if (isSemi) {
      return semiJoin(node, left, right, this.#context);
    }
    if (isOrdered) return orderedJoin(node, { left, right }, first, this.#context);
    return joinPipelines(node, left, right, this.#context).pipeline;
  }

  #scan(node: ScanNode): Pipeline {
    if (node.lookup !== undefined) return this.#rows(node);
    const { compiler, engine, tables, exactTimestamps } = this.#context;
    const relation = compiler.runtime.namespace.dataset(node.dataset);
    const table = VectorTable.of(relation, exactTimestamps);
    if (table === undefined || table.rowCount === 0) throw new NotSuited();
    const { snapshot } = table;
    const paths =
      node.columns === 'all'
        ? snapshot.columns.map(({ path }) => path)
        : node.columns.map(({ elements }) => elements);
    const outputs = datasetOutputs(
      (path) => {
        const found = table.find(path);
        return typeof found === 'number' ? 'present' : found;
      },
      paths,
      snapshot.columns.every(({ nullCount }) => nullCount === 0),
    );
    let names: { pathAt(row: number): Path } | undefined;
    return new Pipeline(
      table,
      outputs,
      (rowOf) => {
        names ??= rowNamesView(snapshot.rowNames, snapshot.rowCount, engine.arenas);
        return names.pathAt(rowOf(0) as number);
      },
      tables,
    );
  }

  #filter(node: FilterNode, wanted: Wanted): Pipeline {
    const { named } = wanted;
    const pipeline = this.#open(node.input, wanted);
    const test = this.#withoutSubqueries(node.condition, pipeline);
    const condition = suited(pipeline.resolve(test));
    const truth = pipeline.lowering.truth(condition);
    if (truth !== undefined) {
      pipeline.addFilter(truth);
      return pipeline;
    }
    const list = suited(pipeline.outputs.list());
    const outputs = [...list, { path: [CONDITION], expression: condition }];
    const table = materialize(pipeline, outputs, this.#context, { named });
    const found = suited(table.outputs.column([CONDITION]));
    if (found === 'absent') throw new NotSuited();
    table.addFilter(suited(table.lowering.truth(found)));
    return withOutputNames(pipeline, table);
  }

  #aggregate(node: AggregateNode, { isOrdered, named }: Wanted): Pipeline {
    const made = this.groups(node, isOrdered);
    return pipelineOfGroups(node, made, named, this.#context);
  }

  #limit({ input, offset, limit }: LimitNode, { named }: Wanted): Pipeline {
    const rowCountMax = limit === undefined ? undefined : offset + limit;
    const pipeline = this.#open(input, { named, first: rowCountMax, isOrdered: true });
    const list = suited(pipeline.outputs.list());
    const table = materialize(pipeline, list, this.#context, { named, rowCountMax });
    return withOutputNames(pipeline, sliceTable(table, offset, rowCountMax, this.#context));
  }

  #window(node: WindowPlanNode): Pipeline {
    const input = this.#open(node.input, { named: true, first: undefined, isOrdered: true });
    return windowPipeline(node, input, this.#context);
  }

  #setOperation(node: SetOperationNode, { named }: Wanted): Pipeline {
    const open = (input: PlanNode) =>
      this.#open(input, { named, first: undefined, isOrdered: true });
    return setOperation(node, open(node.left), open(node.right), named, this.#context);
  }

  #groupingSets(node: GroupingSetsNode, { named }: Wanted): Pipeline {
    const input = this.#open(node.input, { named: false, first: undefined, isOrdered: false });
    return groupingSets(node, input, named, this.#context);
  }

  /** The same expression with sub-selects as constants or as columns of the pipeline. */
  #withoutSubqueries(expression: BoundExpression, pipeline: Pipeline): BoundExpression {
    if (!someExpression(expression, ({ kind }) => kind === 'subquery')) return expression;
    const open = (node: PlanNode) =>
      this.#open(node, { named: false, first: undefined, isOrdered: false });
    return mapExpression(expression, (part) =>
      part.kind === 'subquery' ? subqueryColumn(part, pipeline, open, this.#context) : part,
    );
  }

  #project(node: ProjectNode, wanted: Wanted): Pipeline {
    if (node.keepsInput || node.name !== undefined) throw new NotSuited();
    const pipeline = this.#open(node.input, wanted);
    const items = node.items.map((item) =>
      item.kind === 'named'
        ? { ...item, expression: this.#withoutSubqueries(item.expression, pipeline) }
        : item,
    );
    pipeline.outputs = suited(projectOutputs({ ...node, items }, pipeline.outputs));
    return pipeline;
  }

  #sort(node: SortNode): Pipeline {
    const isOrdered = node.ties === 'input-order';
    const input = this.#open(node.input, { named: true, first: undefined, isOrdered });
    return sortPipeline(node, input, this.#context);
  }

  /** The rows of a node by the reference. */
  #rows(node: PlanNode): Pipeline {
    const { tables } = this.#context;
    const table = tableOfRows(this.#referenceRows(node), this.#context);
    this.#byReference.add(node);
    const outputs = outputsOfRows(node, table);
    return new Pipeline(table, outputs, (rowOf) => table.nameAt(rowOf(0) as number), tables);
  }
}

function outputsOfRows(node: PlanNode, table: MadeTable): Outputs {
  const made = node.kind === 'aggregate' ? groupOutputs(node) : madeOutputs(table);
  if (node.kind !== 'window') return made;
  return { ...made, windowResult: (index) => tableColumn([windowName(index)]) };
}

/** Whether all rows of a node were made before the next one reads them. */
function isBreaker({ kind }: PlanNode): boolean {
  return (
    kind === 'aggregate' ||
    kind === 'limit' ||
    kind === 'sort' ||
    kind === 'window' ||
    kind === 'set-operation' ||
    kind === 'grouping-sets'
  );
}

/** No column of a query is called so. */
const CONDITION = '\u0000condition';
