// Sums over the rows of a training query where another system has them: each request is the plan of
// the query with an aggregation above it, which that system takes over as a whole, or not at all.

import { type Group, type Sums, SumsRefused, type SumsRequest } from '../../learn/sums/sums.ts';
import type { Term } from '../../learn/sums/term.ts';
import type { BoundExpression, NamedProjectItem, ProjectItem } from '../../plan/expression.ts';
import { mapPlan } from '../../plan/map-plan.ts';
import type { RelationRow } from '../../plan/namespace.ts';
import { renamedPath } from '../../plan/pattern.ts';
import type { PlanNode, ProjectNode, QueryPlan } from '../../plan/plan.ts';
import { type AtomType, atomType, type ValueType } from '../../plan/type/type.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { RowanError } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { Scalar } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import {
  asNumber,
  BASE,
  columnExpression,
  columnsUsed,
  filtered,
  levelsOf,
  literal,
  named,
  nameOf,
  selection,
  TermBinder,
} from './sums-plan.ts';

/** A column of the rows that are summed. */
export interface SummedColumn {
  readonly path: Path;
  readonly expression: BoundExpression;
  /** what its values are, for certain */
  readonly atom: AtomType;
}

/** What a run tells of how it came by its data. */
export interface SumsReport {
  readonly way: 'sums';
  readonly dataset: string;
  readonly queries: number;
  /** groups that came, over all queries */
  readonly groups: number;
}

/** Rows that another system has were read here all the same. */
export interface RowsReport {
  readonly way: 'rows';
  readonly dataset: string;
  /** why sums were not enough */
  readonly reason: string;
}

/** Rows that another system chose at random, as there are too many. */
export interface SampleReport {
  readonly way: 'sample';
  readonly dataset: string;
  /** rows there */
  readonly of: number;
  /** the share of them that was asked for */
  readonly share: number;
  readonly seed: number;
  readonly reason?: string;
}

export type ReadingReport = SumsReport | RowsReport | SampleReport;

/**
 * Makes something of sums where another system has the rows, and of the rows where sums cannot be
 * had. @returns what was made, and for rows of another system how
 */
export function bySumsOrRows<Made>(
  context: ProcedureContext,
  open: () => QuerySums | undefined,
  bySums: (sums: QuerySums) => Made,
  byRows: () => Made & { readonly sample?: SampleReport | undefined },
): { readonly made: Made; readonly reading: ReadingReport | undefined } {
  const sums = open();
  if (sums === undefined) {
    const made = byRows();
    return { made, reading: made.sample };
  }
  try {
    const made = bySums(sums);
    return { made, reading: sums.report };
  } catch (thrown) {
    if (!(thrown instanceof SumsRefused)) throw thrown;
    const { dataset } = sums.report;
    const { message: reason } = thrown;
    context.log(`rows of ${dataset} are read here: ${reason}`);
    const made = byRows();
    const reading = made.sample ?? ({ way: 'rows', dataset } as const);
    return { made, reading: { ...reading, reason } };
  }
}

export interface QuerySumsOptions {
  /** the item whose members are the columns; absent: those of the select list */
  readonly row?: string;
  /** rows without this item are left out */
  readonly label?: string;
  readonly weight?: string;
  /** an item that is no column, whose members are conditions */
  readonly carrier?: string;
}

/**
 * The rows of a query in another system.
 * @returns undefined: they are here, or the query does more than choosing them
 */
export function sumsOfQuery(
  context: ProcedureContext,
  query: InputQuery,
  options: QuerySumsOptions,
): QuerySums | undefined {
  let found: QuerySums | undefined;
  context.query(query, (plan) => {
    found = fromPlan(context, query, plan, options);
    return plan;
  });
  return found;
}

function fromPlan(
  context: ProcedureContext,
  query: InputQuery,
  { root }: QueryPlan,
  options: QuerySumsOptions,
): QuerySums | undefined {
  if (root.kind !== 'project' || root.keepsInput) return undefined;
  const dataset = pushingDataset(root.input, context);
  if (dataset === undefined) return undefined;
  const items = [...root.items];
  const take = (name: string | undefined): NamedProjectItem | undefined => {
    const index = items.findIndex(
      (item) => item.kind === 'named' && item.path.length === 1 && item.path[0] === name,
    );
    return index === -1 ? undefined : (items.splice(index, 1)[0] as NamedProjectItem);
  };
  const label = take(options.label);
  const weight = take(options.weight);
  const carrier = take(options.carrier);
  let own: readonly ProjectItem[] = items;
  if (options.row !== undefined) {
    const row = take(options.row)?.expression;
    if (row?.kind !== 'row') return undefined;
    own = row.items;
  }
  const columns = columnsOf(own, dataset, context);
  if (columns === undefined) return undefined;
  const conditions = carrier?.expression.kind === 'row' ? carrier.expression.items : [];
  return new QuerySums(context, query, dataset, {
    columns,
    label: label && summedColumn(new Path(label.path), label.expression),
    weight: weight && summedColumn(new Path(weight.path), weight.expression),
    conditions: conditions.flatMap((item) => (item.kind === 'named' ? [item.expression] : [])),
  });
}

/** The dataset whose rows a plan takes or leaves out, where its system may take plans over. */
function pushingDataset(node: PlanNode, { namespace }: ProcedureContext): string | undefined {
  if (node.kind === 'filter') return pushingDataset(node.input, { namespace } as ProcedureContext);
  if (node.kind !== 'scan' || node.lookup !== undefined) return undefined;
  const isPushing = namespace.dataset(node.dataset).remote?.pushing !== undefined;
  return isPushing ? node.dataset : undefined;
}

function columnsOf(
  items: readonly ProjectItem[],
  dataset: string,
  { namespace }: ProcedureContext,
): SummedColumn[] | undefined {
  const relation = namespace.dataset(dataset);
  const rowType = relation.remote?.rowType();
  const typeOf = (name: string): ValueType =>
    (rowType?.kind === 'row' && rowType.members.find((member) => member.name === name)?.type) ||
    atomType('atom');
  const columns: SummedColumn[] = [];
  for (const item of items) {
    if (item.kind === 'named') columns.push(summedColumn(new Path(item.path), item.expression));
    else if (item.kind === 'wildcard' && item.source === 'input') {
      for (const { path } of relation.columns()) {
        const renamed = renamedPath(item.pattern, path.elements);
        if (renamed === undefined) continue;
        if (renamed === 'below') return undefined;
        const type = typeOf(path.elements[0] as string);
        const expression = { kind: 'column', path: path.elements, type, start: 0, end: 0 } as const;
        columns.push(summedColumn(new Path(renamed), expression));
      }
    } else return undefined;
  }
  const names = new Set(columns.map(({ path }) => path.toString()));
  return names.size === columns.length ? columns : undefined;
}

function summedColumn(path: Path, expression: BoundExpression): SummedColumn {
  const { type } = expression;
  return { path, expression, atom: type.kind === 'atom' ? type.atom : 'atom' };
}

interface Parts {
  readonly columns: readonly SummedColumn[];
  readonly label: SummedColumn | undefined;
  readonly weight: SummedColumn | undefined;
  readonly conditions: readonly BoundExpression[];
}

/** Sums over the rows of a query; each request is a query of its own, which tells what rows are then. */
export class QuerySums implements Sums {
  /** in the order of the select list */
  readonly columns: readonly SummedColumn[];
  readonly label: SummedColumn | undefined;
  readonly weight: SummedColumn | undefined;
  /** how many conditions there are: the columns behind `columns`, 1 where they hold */
  readonly conditionCount: number;
  readonly #context: ProcedureContext;
  readonly #query: InputQuery;
  readonly #dataset: string;
  readonly #expressions: readonly BoundExpression[];
  #queries = 0;
  #groups = 0;

  constructor(context: ProcedureContext, query: InputQuery, dataset: string, parts: Parts) {
    this.#context = context;
    this.#query = query;
    this.#dataset = dataset;
    this.columns = parts.columns;
    this.label = parts.label;
    this.weight = parts.weight;
    this.conditionCount = parts.conditions.length;
    this.#expressions = [
      ...parts.columns.map(({ expression }) => expression),
      ...parts.conditions.map(asNumber),
    ];
  }

  /** The same rows with columns in natural order of their names, as classifiers have them. */
  sorted(): QuerySums {
    const columns = [...this.columns].sort((a, b) => comparePaths(a.path, b.path));
    const { label, weight } = this;
    return new QuerySums(this.#context, this.#query, this.#dataset, {
      ...{ columns, label, weight, conditions: [] },
    });
  }

  /** Rows of the dataset, also of those that the query leaves out. */
  get tableRowCount(): number {
    return this.#context.namespace.dataset(this.#dataset).rowCount;
  }

  get groupCountMax(): number {
    const { remote } = this.#context.namespace.dataset(this.#dataset);
    return remote?.pushing?.rowCountMax ?? Number.POSITIVE_INFINITY;
  }

  get report(): SumsReport {
    return {
      way: 'sums',
      dataset: this.#dataset,
      queries: this.#queries,
      groups: this.#groups,
    };
  }

  groups(request: SumsRequest): readonly Group[] {
    this.#context.checkCancelled();
    const prepared = this.#context.query(this.#query, (plan) => this.#planFor(request, plan), {
      exactTimestamps: false,
    });
    if (!isPushed(prepared.plan.root)) {
      throw new SumsRefused(`dataset ${this.#dataset} cannot compute all sums that are needed`);
    }
    this.#queries++;
    const groups: Group[] = [];
    try {
      for (const { row } of prepared.run()) {
        if (groups.length % ROWS_PER_CHECK === 0) this.#context.checkCancelled();
        groups.push({
          keys: request.keys.map((_, index) => atomOf(row, `k${index}`)),
          values: request.values.map((_, index) => atomOf(row, `v${index}`)),
        });
      }
    } catch (thrown) {
      if (!(thrown instanceof RowanError) || thrown.details?.maxRows === undefined) throw thrown;
      throw new SumsRefused(`sums of more than ${this.groupCountMax} groups are needed`);
    }
    this.#groups += groups.length;
    return groups;
  }

  #planFor(request: SumsRequest, plan: QueryPlan): QueryPlan {
    const { keys, values, where, shared = [], greatest } = request;
    let input = (plan.root as ProjectNode).input;
    const columns = new Map<string, BoundExpression>();
    this.#expressions.forEach((expression, index) => {
      columns.set(nameOf(index), expression);
    });
    if (this.label !== undefined) {
      columns.set('label', this.label.expression);
      input = filtered(input, {
        ...BASE,
        kind: 'is',
        operand: this.label.expression,
        test: 'null',
        negated: true,
      });
    }
    if (this.weight !== undefined) columns.set('weight', this.weight.expression);
    if (where !== undefined) {
      const bare = new TermBinder((name) => columns.get(name) as BoundExpression);
      input = filtered(input, bare.test(where));
    }
    const used = columnsUsed(request);
    let list = [...used].map((name) => named(name, columns.get(name) as BoundExpression));
    input = selection(input, list);
    const binder = new TermBinder((name) => columnExpression(name, columns.get(name)?.type));
    for (const level of levelsOf(shared)) {
      list = [
        ...list.map(({ path: [name = ''] }) => named(name, binder.column(name))),
        ...level.map((index) => named(`s${index}`, binder.term(shared[index] as Term))),
      ];
      input = selection(input, list);
    }
    const aggregates = [...values, { kind: 'rows' } as const].map((value) => binder.call(value));
    let node: PlanNode = {
      kind: 'aggregate',
      input,
      keys: keys.map((key) => binder.term(key)),
      aggregates,
      explicit: keys.length > 0,
    };
    const rowCount = { ...BASE, kind: 'aggregate-result', index: values.length } as const;
    const { rowCountMin, rowCountMax } = request;
    const bound = (operator: '>=' | '<=', limit: number) =>
      ({ ...BASE, kind: 'comparison', operator, left: rowCount, right: literal(limit) }) as const;
    if (rowCountMin !== undefined) node = filtered(node, bound('>=', rowCountMin));
    if (rowCountMax !== undefined) node = filtered(node, bound('<=', rowCountMax));
    if (greatest !== undefined) {
      const key = {
        expression: { ...BASE, kind: 'group-key', index: 0 } as const,
        descending: true,
      };
      node = {
        kind: 'sort',
        input: node,
        keys: [key],
        late: false,
        ties: 'row-hash',
        keep: greatest,
      };
      node = { kind: 'limit', input: node, offset: 0, limit: greatest };
    }
    const root = selection(node, [
      ...keys.map((_, index) => named(`k${index}`, { ...BASE, kind: 'group-key', index })),
      ...values.map((_, index) => named(`v${index}`, { ...BASE, kind: 'aggregate-result', index })),
    ]);
    return { ...plan, root };
  }
}

/** Rows between two looks at the cancel flag. */
const ROWS_PER_CHECK = 4096;

function isPushed(root: PlanNode): boolean {
  let isGrouped = false;
  mapPlan(root, (node) => {
    if (node.kind === 'aggregate') isGrouped = node.input.kind === 'ask' && !node.input.isStored;
    return node;
  });
  return isGrouped;
}

function atomOf(row: RelationRow['row'], name: string): Atom {
  const [value] = row.all(name);
  return value instanceof Scalar ? value.atom : null;
}
