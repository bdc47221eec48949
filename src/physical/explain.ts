// EXPLAIN: the plan as rows of text, inputs indented below the operator that reads them.

import { someExpression } from '../plan/children.ts';
import { printExpression } from '../plan/explain-expression.ts';
import type { BoundExpression, ProjectItem, SubqueryExpression } from '../plan/expression.ts';
import { expressionsOf, inputsOf } from '../plan/map-plan.ts';
import type { Namespace } from '../plan/namespace.ts';
import type { JoinNode, PlanNode, QueryPlan } from '../plan/plan.ts';
import { estimateGroups, estimateJoin, shareOfRows } from '../plan/rule/estimate.ts';
import type { Planner } from './choice/choice.ts';
import type { PhysicalNode } from './physical.ts';

export interface ExplainLine {
  readonly operator: string;
  /** how the rows are got: a scan, a lookup, the general evaluator, kernels */
  readonly path: string;
  /** estimated rows; null when nothing is known */
  readonly rows: number | null;
  /** why not faster: the choices that were not made for it, with their reasons; null: none */
  readonly why: string | null;
  /** where names and timestamps of its rows are from */
  readonly names: string | null;
  readonly timestamps: string | null;
  /** absent: the line only announces those below it */
  readonly physical?: PhysicalNode;
}

/** The operators of a query, inputs below those that read them. */
export function explainPlan(plan: QueryPlan, planner: Planner): ExplainLine[] {
  const lines: ExplainLine[] = [];
  const root = planner.rows(plan.root);
  addLines(root, 0, planner, lines);
  const read = new Map<number, SubqueryRun>();
  findSubqueries(root, plan, planner, read);
  for (const [index, { way, physical }] of [...read].sort(([a], [b]) => a - b)) {
    lines.push({ ...NOTHING_KNOWN, operator: `sub-select ${index}`, path: way });
    addLines(physical, 1, planner, lines);
  }
  return lines;
}

const NOTHING_KNOWN = { rows: null, why: null, names: null, timestamps: null };

/** How often a sub-select runs, and its operators as whoever reads it plans them. */
interface SubqueryRun {
  readonly way: string;
  readonly physical: PhysicalNode;
}

/** The sub-selects that an operator and those below it read. */
function findSubqueries(
  { logical: node, way, inputs }: PhysicalNode,
  plan: QueryPlan,
  planner: Planner,
  found: Map<number, SubqueryRun>,
): void {
  const add = (index: number, often: string, isColumns: boolean) => {
    const subquery = plan.subqueries[index];
    if (found.has(index) || subquery === undefined) return;
    const physical = isColumns ? planner.batches(subquery) : planner.rows(subquery);
    found.set(index, { way: often, physical });
    findSubqueries(physical, plan, planner, found);
  };
  if (node.kind === 'shared') add(node.subquery, 'once', way === 'batches');
  for (const expression of expressionsOf(node)) {
    someExpression(expression, (part) => {
      if (part.kind === 'in-query') add(part.subquery, 'once', false);
      if (part.kind === 'subquery') add(part.subquery, wayOf(part), false);
      return false;
    });
  }
  for (const input of inputs) findSubqueries(input, plan, planner, found);
}

function wayOf({ args, lookup }: SubqueryExpression): string {
  if (lookup !== undefined) return 'once, hashed by key';
  return args.length === 0 ? 'once' : 'once for each distinct key';
}

function addLines(
  physical: PhysicalNode,
  depth: number,
  planner: Planner,
  lines: ExplainLine[],
): void {
  const { logical: node, inputs } = physical;
  const { namespace } = planner;
  lines.push({
    operator: '  '.repeat(depth) + describeNode(node),
    path: pathOf(physical),
    rows: estimateRows(node, namespace),
    why: whyOf(physical),
    names: namesOf(physical, namespace),
    timestamps: timestampsOf(physical, planner),
    physical,
  });
  const request = remoteRequest(node, namespace);
  if (request !== undefined) {
    const operator = `${'  '.repeat(depth + 1)}${request}`;
    lines.push({ ...NOTHING_KNOWN, operator, path: 'remote' });
  }
  for (const input of inputs) addLines(input, depth + 1, planner, lines);
}

/** What another system is asked for the rows of a scan. */
function remoteRequest(node: PlanNode, namespace: Namespace): string | undefined {
  if (node.kind === 'ask') return namespace.dataset(node.dataset).remote?.pushing?.describe(node);
  if (node.kind !== 'scan' || node.lookup !== undefined) return undefined;
  return namespace.dataset(node.dataset).remote?.describe(node.columns, node.prefilter ?? []);
}

/** What rows are called after; their names are made when somebody asks for them. */
function namesOf({ logical: node, inputs: [input] }: PhysicalNode, namespace: Namespace): string {
  switch (node.kind) {
    case 'scan': {
      const { snapshot } = namespace.dataset(node.dataset);
      if (snapshot === undefined) return 'stored with each row';
      const { kind } = snapshot.rowNames;
      return kind === 'paths'
        ? 'stored texts'
        : kind === 'numbers'
          ? 'stored numbers'
          : 'row numbers';
    }
    case 'join':
    case 'lateral':
      return 'those of both sides';
    case 'aggregate':
    case 'grouping-sets':
      return 'keys';
    case 'project':
      if (node.name !== undefined) return `NAMED ${printExpression(node.name)}`;
      break;
    case 'filter':
    case 'when':
    case 'sort':
    case 'limit':
    case 'limit-by':
    case 'distinct-on':
    case 'window':
    case 'rejoin':
    case 'sample':
      break;
    default:
      return 'its own';
  }
  return input === undefined ? 'its own' : namesOf(input, namespace);
}

/** Where the timestamps of values are from. */
function timestampsOf(
  { logical: node, inputs }: PhysicalNode,
  { namespace, exactTimestamps }: Pick<Planner, 'namespace' | 'exactTimestamps'>,
): string {
  if (!exactTimestamps) return 'not looked at';
  if (node.kind === 'scan') {
    const { snapshot } = namespace.dataset(node.dataset);
    if (snapshot?.layout !== 'columnar') return 'of each cell';
    const { timestamps } = snapshot;
    if (timestamps.kind !== 'constant') return 'of each row';
    return Number.isNaN(timestamps.ts) ? 'of each cell' : 'one for all';
  }
  const below = new Set(inputs.map((input) => timestampsOf(input, { namespace, exactTimestamps })));
  return below.size === 0 ? 'of each cell' : [...below].join(' and ');
}

/** How the rows of an operator come about, in a word or two. */
export function pathOf({ logical: node, way, method }: PhysicalNode): string {
  if (node.kind === 'ask') return 'remote';
  if (node.kind === 'scan') return node.lookup === undefined ? 'scan' : 'row lookup';
  if (way !== 'rows') return method === 'plain' ? 'vector' : `vector: ${method}`;
  if (node.kind === 'join') return method;
  if (node.kind === 'sort' && node.keep !== undefined) return 'top rows';
  return 'general';
}

/** Why an operator makes rows one by one; null when it does not. */
function whyOf({ logical: { kind }, way, refusals }: PhysicalNode): string | null {
  if (way !== 'rows' || kind === 'scan' || kind === 'ask' || kind === 'single-row') return null;
  return refusals.map(({ choice, because }) => `${choice}: ${because}`).join('; ') || null;
}

function describeNode(node: PlanNode): string {
  switch (node.kind) {
    case 'scan':
      return describeScan(node.dataset, node);
    case 'ask':
      return `ask ${node.dataset}`;
    case 'single-row':
      return 'single row';
    case 'row-dataset':
      return `${node.flat ? 'atom_dataset' : 'row_dataset'} ${printExpression(node.expression)}`;
    case 'transpose':
    case 'merge':
    case 'sample':
      return node.kind;
    case 'join':
      return describeJoin(node);
    case 'filter':
    case 'when':
      return `${node.kind} ${printExpression(node.condition)}`;
    case 'project':
      return `project ${node.items.map(describeItem).join(', ')}`;
    case 'aggregate': {
      const keys = node.keys.map(printExpression).join(', ');
      const calls = node.aggregates.map((call) => call.surface).join(', ');
      return `aggregate ${calls || 'nothing'}${keys === '' ? '' : ` by ${keys}`}`;
    }
    case 'sort': {
      const keys = node.keys.map(
        (key) => printExpression(key.expression) + (key.descending ? ' DESC' : ''),
      );
      return `sort ${keys.join(', ')}${node.keep === undefined ? '' : ` keep ${node.keep}`}`;
    }
    case 'grouping-sets': {
      const keys = node.keys.map(printExpression);
      const calls = node.aggregates.map((call) => call.surface).join(', ');
      const sets = node.sets.map((set) => `(${set.map((index) => keys[index]).join(', ')})`);
      return `grouping sets ${calls || 'nothing'} by ${sets.join(', ')}`;
    }
    case 'window': {
      const keep = node.keep === undefined ? '' : ` keep ${node.keep} of each partition`;
      return `window ${node.calls.map((call) => call.surface).join(', ')}${keep}`;
    }
    case 'distinct':
      return 'distinct';
    case 'set-operation':
      return `${node.operator}${node.all ? ' all' : ''}`;
    case 'values':
      return `values ${node.rows.length} rows`;
    case 'series':
      return `series ${printExpression(node.start)} to ${printExpression(node.stop)}`;
    case 'shared':
      return `rows of sub-select ${node.subquery}`;
    case 'recursive':
      return `recursion ${node.table}${node.all ? '' : ' without repeats'}`;
    case 'recursive-table':
      return `last rows of recursion ${node.table}`;
    case 'lateral':
      return `lateral ${node.joinKind} join by ${node.args.map(printExpression).join(', ')}`;
    case 'rejoin':
      return 'rows in the order of FROM';
    case 'limit-by': {
      const count = (part: BoundExpression | undefined, none: string) =>
        part === undefined ? none : printExpression(part);
      return `limit ${count(node.limit, 'all')} offset ${count(node.offset, '0')}`;
    }
    case 'distinct-on':
      return `distinct on ${node.expressions.map(printExpression).join(', ')}`;
    case 'limit':
      return `limit ${node.limit ?? 'all'} offset ${node.offset}`;
  }
}

function describeScan(dataset: string, node: Extract<PlanNode, { kind: 'scan' }>): string {
  const columns = node.columns === 'all' ? '*' : node.columns.map(String).join(', ');
  const lookup = node.lookup?.names.map(printExpression).join(', ');
  return `scan ${dataset} [${columns}]${lookup === undefined ? '' : ` rows ${lookup}`}`;
}

function describeJoin(node: JoinNode): string {
  const equalities = node.equalities.map(
    ({ left, right }) => `${printExpression(left)} = ${printExpression(right)}`,
  );
  const { own, residual } = node;
  const ofSides = (['left', 'right'] as const).flatMap((side) => {
    const part = own[side];
    return part === undefined ? [] : [`${side} ${printExpression(part)}`];
  });
  const others = residual === undefined ? [] : [printExpression(residual)];
  const condition = [...equalities, ...ofSides, ...others].join(' AND ');
  return `${node.joinKind} join${condition === '' ? '' : ` on ${condition}`}`;
}

function describeItem(item: ProjectItem): string {
  switch (item.kind) {
    case 'named':
      return `${item.path.join('.')}: ${printExpression(item.expression)}`;
    case 'spread':
      return `${printExpression(item.expression)} AS *`;
    case 'wildcard':
      return `${[...item.pattern.exact, `${item.pattern.prefix}*`].join('.')}`;
    case 'column-expression':
      return 'COLUMN EXPR';
  }
}

function estimateRows(node: PlanNode, namespace: Namespace): number | null {
  const [input = null] = inputsOf(node).map((below) => estimateRows(below, namespace));
  switch (node.kind) {
    case 'scan':
      return node.lookup?.names.length ?? namespace.dataset(node.dataset).rowCount;
    case 'single-row':
      return 1;
    case 'row-dataset':
    case 'transpose':
    case 'merge':
    case 'sample':
      return null;
    case 'filter': {
      // What statistics tell of a condition is a share of its input.
      const share = shareOfRows(node.condition, node.input, namespace);
      return input === null ? null : Math.ceil(input * share);
    }
    case 'aggregate':
      if (node.keys.length === 0) return 1;
      return input === null ? null : Math.ceil(estimateGroups(node, input, namespace));
    case 'limit':
      return node.limit === undefined ? input : Math.min(node.limit, input ?? node.limit);
    case 'shared':
      return node.rowCount === undefined ? null : Math.ceil(node.rowCount);
    case 'join': {
      const right = estimateRows(node.right.input, namespace);
      if (input === null || right === null) return null;
      return Math.ceil(estimateJoin(node, { left: input, right }, namespace));
    }
    default:
      return input;
  }
}
