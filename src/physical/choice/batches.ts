// Operators over batches of columns: a part of the plan from a root down to its datasets, or to nodes
// whose rows the reference makes.
import { someExpression } from '../../plan/children.ts';
import type { BoundExpression, ProjectItem } from '../../plan/expression.ts';
import { expressionsOf, inputsOf } from '../../plan/map-plan.ts';
import type {
  AggregateCall,
  AggregateNode,
  GroupingSetsNode,
  JoinNode,
  PlanNode,
  ProjectNode,
  RecursiveNode,
  SortNode,
  WindowPlanNode,
} from '../../plan/plan.ts';
import { distinctCount, estimateGroups, estimateRows } from '../../plan/rule/estimate.ts';
import { isStructuredType } from '../../plan/type/type.ts';
import { isVolatile } from '../../plan/volatility.ts';
import {
  isDistinct,
  isFolded,
  isQuantile,
  type Models,
  opaquePart,
  scoreCall,
} from '../capability.ts';
import type { Method, PhysicalNode } from '../physical.ts';
import { type Choice, type Planner, whyNoColumns, whyTooSmall } from './choice.ts';
import { whyNotFirst } from './row-numbers.ts';

/** Select lists, groups and set operations, whatever they read. */
export const batches: Choice = {
  name: 'batches',
  take(node, planner) {
    const because = whyNoRoot(node, planner) ?? whyTooSmall(node, planner);
    if (because !== undefined) return because;
    const made = overBatches(node, planner);
    return typeof made === 'string' ? made : (whyMadeRows(made) ?? made);
  },
};

/** Why an operator only hands on, or computes with, rows that the reference makes. */
function whyMadeRows({ way, logical, inputs, refusals }: PhysicalNode): string | undefined {
  if (way === 'rows') {
    const [refusal] = refusals;
    return refusal?.because ?? `the rows of '${logical.kind}' are made one by one`;
  }
  const passesOn = ['project', 'filter', 'limit', 'rejoin', 'sample'].includes(logical.kind);
  const [input] = inputs;
  return passesOn && input !== undefined ? whyMadeRows(input) : undefined;
}

/** Why the rows of a node are not to be made from columns; undefined when they are. */
function whyNoRoot(node: PlanNode, planner: Planner): string | undefined {
  switch (node.kind) {
    case 'aggregate':
    case 'set-operation':
      return undefined;
    case 'project':
      return whyNoSelectList(node, planner);
    case 'sort':
      return isSortOfGroups(node, planner) ? undefined : whyNoRoot(node.input, planner);
    case 'limit':
      return whyScoredInVain(node, planner) ?? whyNoRoot(node.input, planner);
    default:
      return 'its rows are not a select list or groups';
  }
}

function whyNoSelectList(node: ProjectNode, planner: Planner): string | undefined {
  if (node.name !== undefined) return 'rows are named by an expression';
  if (node.keepsInput) return 'a sort key above reads the input';
  if (picksColumns(node)) {
    return planner.isWithout('stored-columns') ? 'it is switched off' : undefined;
  }
  if (!node.items.every(isColumns)) {
    return 'the select list is more than named expressions and wildcards';
  }
  if (givesLists(node.input, planner)) return GIVES_LISTS;
  if (!gathersRows(node.input)) return 'rows leave one by one as they are read';
  return expressionsOf(node)
    .map((expression) => opaquePart(expression, { except: 'subquery', models: modelsOf(planner) }))
    .find((reason) => reason !== undefined);
}

/** Whether an item is a column, or columns of the input. */
function isColumns(item: ProjectItem): boolean {
  return item.kind === 'named' || (item.kind === 'wildcard' && item.source === 'input');
}

/** Whether the rows are columns of a dataset as they lie, perhaps not all of them. */
function picksColumns({ items, input }: ProjectNode): boolean {
  const below = input.kind === 'limit' ? input.input : input;
  const scan = below.kind === 'filter' ? below.input : below;
  if (scan.kind !== 'scan') return false;
  return items.every((item) =>
    item.kind === 'named'
      ? item.expression.kind === 'column'
      : item.kind === 'wildcard' && items.length === 1 && item.source === 'input',
  );
}

/** Whether the rows of a node are joined, sorted or grouped ones, which are known before any leaves. */
function gathersRows(node: PlanNode): boolean {
  switch (node.kind) {
    case 'aggregate':
    case 'join':
    case 'sample':
    case 'window':
    case 'set-operation':
    case 'grouping-sets':
    case 'shared':
    case 'recursive':
      return true;
    case 'project':
      return node.name === undefined && !node.keepsInput && gathersRows(node.input);
    case 'sort':
      return !node.late || gathersRows(node.input);
    case 'distinct-on':
      return whyNotFirst(node) === undefined;
    case 'filter':
    case 'limit':
    case 'rejoin':
      return gathersRows(node.input);
    default:
      return false;
  }
}

const GIVES_LISTS = 'an aggregate gives rows or lists';

/** Whether rows are groups with a result that is no atom, which no column holds. */
function givesLists(node: PlanNode, planner: Planner): boolean {
  switch (node.kind) {
    case 'aggregate':
      return node.aggregates.some(({ name, args }) => {
        const found = planner.namespace.builtins.findFunction(name);
        const types = args.map(({ type }) => type);
        return found?.kind === 'aggregate' && isStructuredType(found.resultType(types));
      });
    case 'filter':
    case 'limit':
    case 'sort':
      return givesLists(node.input, planner);
    default:
      return false;
  }
}

/** ORDER BY over groups, by their keys and aggregates. */
function isSortOfGroups(
  node: SortNode,
  planner: Planner,
): node is SortNode & { input: AggregateNode } {
  return (
    !node.late &&
    node.ties === 'input-order' &&
    node.input.kind === 'aggregate' &&
    !node.input.aggregates.some(
      (call) =>
        isQuantile({ ...call, modifiers: undefined }) || isFolded(call, planner.exactTimestamps),
    ) &&
    groupMethod(node.input, planner) === 'plain' &&
    node.keys.every(
      ({ expression, nulls }) =>
        nulls === undefined &&
        (expression.kind === 'group-key' || expression.kind === 'aggregate-result'),
    )
  );
}

/** Why rows are scored one after the other until there are enough; undefined when they are not. */
function whyScoredInVain(node: PlanNode, planner: Planner): string | undefined {
  if (node.kind !== 'limit' && node.kind !== 'project' && node.kind !== 'filter') return undefined;
  const isScore = (part: BoundExpression) => scoreCall(part, planner.namespace) !== undefined;
  return node.kind === 'filter' && someExpression(node.condition, isScore)
    ? 'rows are scored until the limit is reached'
    : whyScoredInVain(node.input, planner);
}

/** The operators of a node whose columns are read, or why its rows have to be made. */
export function overBatches(node: PlanNode, planner: Planner): PhysicalNode | string {
  switch (node.kind) {
    case 'scan': {
      const because = whyNoColumns(node, planner);
      return because ?? plain(node, []);
    }
    case 'filter': {
      const because = opaquePart(node.condition, {
        ...{ except: 'subquery', models: modelsOf(planner) },
      });
      return because ?? withInputs(node, 'plain', [node.input], planner);
    }
    case 'project': {
      if (node.name !== undefined) return 'rows are named by an expression';
      if (node.keepsInput) return 'a sort key above reads the input';
      return withInputs(
        node,
        picksColumns(node) ? 'stored columns' : 'plain',
        [node.input],
        planner,
      );
    }
    case 'rejoin':
      return withInputs(node, 'plain', [node.input], planner);
    // A table with a column for each row of the dataset would be as wide as it is long.
    case 'transpose':
      return 'it has a column for each row';
    default:
      return gathered(node, planner);
  }
}

/** An operator that reads all of its inputs first; where it does not suit, its rows are made. */
function gathered(node: PlanNode, planner: Planner): PhysicalNode {
  const made = gather(node, planner);
  return typeof made === 'string' ? planner.rows(node, { choice: 'batches', because: made }) : made;
}

function gather(node: PlanNode, planner: Planner): PhysicalNode | string {
  switch (node.kind) {
    case 'aggregate':
    case 'grouping-sets':
      return (
        whyNoGroups(node, planner) ??
        withInputs(node, groupMethod(node, planner), [node.input], planner)
      );
    case 'join': {
      const method = joinMethod(node);
      if ('because' in method) return method.because;
      return withInputs(node, method.method, [node.left.input, node.right.input], planner);
    }
    case 'limit': {
      const because = whyScoredInVain(node, planner);
      if (because !== undefined) return because;
      if (givesLists(node.input, planner)) return GIVES_LISTS;
      if (picksFromEndless(node.input))
        return 'a recursion that may not end is read as far as needed';
      return withInputs(node, 'plain', [node.input], planner);
    }
    case 'recursive':
      return overRounds(node, planner);
    case 'recursive-table':
      return planner.rounds.includes(node.table)
        ? plain(node, [])
        : 'the rows that came last are made one by one';
    case 'sort': {
      if (node.late) return 'a sort key reads the output';
      if (givesLists(node.input, planner)) return GIVES_LISTS;
      const isOfGroups = isSortOfGroups(node, planner) && !planner.isWithout('first-groups');
      return withInputs(node, isOfGroups ? 'sorted groups' : 'plain', [node.input], planner);
    }
    case 'distinct-on':
      return whyNotFirst(node) ?? withInputs(node, 'first of groups', [node.input], planner);
    case 'sample':
      return withInputs(node, 'plain', [node.input], planner);
    case 'row-dataset':
      return plain(node, []);
    case 'window':
      return whyNoWindow(node, planner) ?? withInputs(node, 'plain', [node.input], planner);
    case 'shared': {
      const subquery = planner.subqueries[node.subquery];
      if (subquery === undefined) return 'its sub-select is not known';
      // Whoever reads them row by row runs it once more.
      if (isVolatile(subquery, planner.namespace.builtins))
        return 'its sub-select differs when it runs again';
      const made = overBatches(subquery, planner);
      return typeof made === 'string' ? made : (whyMadeRows(made) ?? plain(node, []));
    }
    case 'set-operation': {
      if (node.all && node.operator !== 'union' && node.columns === undefined) {
        return 'its columns are not known';
      }
      if (!node.all && planner.exactTimestamps) return 'equal rows have timestamps of their own';
      return withInputs(node, 'plain', [node.left, node.right], planner);
    }
    default:
      return `no operator over batches gives the rows of '${node.kind}'`;
  }
}

/** Whether so many rows of a recursion as a LIMIT needs are not known before they are picked. */
export function picksFromEndless(node: PlanNode, isPicked = false): boolean {
  switch (node.kind) {
    case 'filter':
      return picksFromEndless(node.input, true);
    case 'project':
      return picksFromEndless(node.input, isPicked);
    case 'join':
      return [node.left, node.right].some(({ input }) => picksFromEndless(input, true));
    case 'recursive':
      return isPicked;
    default:
      return false;
  }
}

/** A recursion whose step reads the rows that came last by operators alone. */
function overRounds(node: RecursiveNode, planner: Planner): PhysicalNode | string {
  if (planner.exactTimestamps) return 'timestamps are looked at';
  const made = withInputs(node, 'plain', [node.base, node.step], planner.inRounds(node.table));
  if (typeof made === 'string') return made;
  const isBase = (part: PlanNode): boolean =>
    part.kind === 'recursive-table' && part.table === node.table;
  const reads = (part: PlanNode, meets: (found: PlanNode) => boolean): boolean =>
    meets(part) ||
    inputsOf(part).some((input) => reads(input, meets)) ||
    subqueriesOf(part).some((index) => {
      const subquery = planner.subqueries[index];
      return subquery !== undefined && reads(subquery, meets);
    });
  const isBySubquery = (part: PlanNode) =>
    subqueriesOf(part).some((index) => reads(planner.subqueries[index] as PlanNode, isBase));
  if (reads(node.step, isBySubquery)) return 'a sub-select reads the rows that came last';
  const byRows = (part: PhysicalNode): boolean =>
    part.way === 'batches' ? part.inputs.some(byRows) : reads(part.logical, isBase);
  return made.inputs.some(byRows) ? 'the rows of its step are made one by one' : made;
}

/** The sub-selects that a node itself reads. */
function subqueriesOf(node: PlanNode): readonly number[] {
  const found: number[] = node.kind === 'shared' ? [node.subquery] : [];
  for (const expression of expressionsOf(node)) {
    someExpression(expression, (part) => {
      if (part.kind === 'subquery' || part.kind === 'in-query') found.push(part.subquery);
      return false;
    });
  }
  return found;
}

function whyNoGroups(node: AggregateNode | GroupingSetsNode, planner: Planner): string | undefined {
  if (node.kind === 'grouping-sets' && planner.exactTimestamps) return 'timestamps are looked at';
  return expressionsOf(node)
    .map((expression) => opaquePart(expression, { models: modelsOf(planner) }))
    .find((reason) => reason !== undefined);
}

/** Scores of columns have no timestamps. */
function modelsOf({ namespace, exactTimestamps }: Planner): Models | undefined {
  return exactTimestamps ? undefined : namespace;
}

/** Marks of which group has met which value, that kernels keep. */
const MARK_COUNT_MAX = 1 << 22;

/** Whether each group marks the values that it has met, or values are grouped too. */
function groupMethod(
  node: AggregateNode | GroupingSetsNode,
  { namespace, exactTimestamps, isWithout }: Planner,
): Method {
  const distinct = node.aggregates.filter(isDistinct);
  if (exactTimestamps || distinct.length === 0) return 'plain';
  if (distinct.some(({ name }) => name !== 'count_distinct')) return 'grouped twice';
  if (isWithout('grouped-twice')) return 'plain';
  const rowCount = estimateRows(node.input, namespace);
  const groupCount = estimateGroups(node, rowCount, namespace);
  const isMany = ({ args: [value] }: AggregateCall) =>
    value?.kind === 'column' &&
    distinctCount(node.input, value.path, namespace) * groupCount > MARK_COUNT_MAX;
  return distinct.some(isMany) ? 'grouped twice' : 'plain';
}

function whyNoWindow(node: WindowPlanNode, planner: Planner): string | undefined {
  return expressionsOf(node)
    .map((expression) => opaquePart(expression, { models: modelsOf(planner) }))
    .find((reason) => reason !== undefined);
}

function joinMethod(node: JoinNode): { readonly method: Method } | { readonly because: string } {
  const { joinKind, equalities, own, residual, order } = node;
  const isOrdered = order === 'value' && equalities.length > 0;
  switch (joinKind) {
    case 'semi':
    case 'anti':
      return own.left === undefined || (residual === undefined && equalities.length > 0)
        ? { method: 'semi join' }
        : { because: 'conditions on both sides and on pairs decide which rows have partners' };
    case 'full':
      return { method: isOrdered ? 'ordered join' : 'outer join' };
    case 'inner':
      if (isOrdered) return { method: 'ordered join' };
      return { method: equalities.length === 0 ? 'nested loops' : 'hash join' };
    default:
      if (isOrdered) return { method: 'ordered join' };
      return equalities.length > 0 && residual === undefined && own[joinKind] === undefined
        ? { method: 'hash join' }
        : { method: 'outer join' };
  }
}

function withInputs(
  node: PlanNode,
  method: Method,
  inputs: readonly PlanNode[],
  planner: Planner,
): PhysicalNode | string {
  const made: PhysicalNode[] = [];
  for (const input of inputs) {
    const physical = overBatches(input, planner);
    if (typeof physical === 'string') return physical;
    made.push(physical);
  }
  return { ...plain(node, made), method };
}

function plain(node: PlanNode, inputs: readonly PhysicalNode[]): PhysicalNode {
  return { logical: node, way: 'batches', method: 'plain', inputs, refusals: [] };
}
