// ORDER BY with LIMIT, and LIMIT alone: rows that cannot be among those that are wanted do not come.
import type { BoundExpression, NamedProjectItem, SortKey } from '../../plan/expression.ts';
import type { AskNode, LimitNode, PlanNode, ProjectNode, SortNode } from '../../plan/plan.ts';
import {
  type Asked,
  askedOf,
  asking,
  loweringOf,
  type PushedTable,
  selectSql,
} from './clickhouse-asked.ts';
import { lower } from './clickhouse-expression.ts';
import { groupColumns, groupsBelow, withGroups } from './clickhouse-group.ts';
import type { Sql } from './clickhouse-sql.ts';

/** More rows than these are sorted here alone. */
const KEEP_MAX = 100_000;

/**
 * ORDER BY with LIMIT: only rows that are not behind the last one that is wanted come, by the first
 * key alone, so that ties and further keys are decided here.
 */
export function pushSort(node: SortNode, table: PushedTable): PlanNode | undefined {
  const { keep, keys } = node;
  const [first] = keys;
  if (keep === undefined || keep > KEEP_MAX || first === undefined) return undefined;
  return withAskBelow(
    node.input,
    (ask, resolve) => {
      const { where, groups, limit } = askedOf(ask);
      if (limit !== undefined) return undefined;
      const to = loweringOf(ask, table);
      const key = resolve(first.expression);
      const sql = key && lower(groupColumns(key), groups === undefined ? to : withGroups(to, ask));
      if (sql === undefined || sql.isInexact === true) return undefined;
      const all = { ...askedOf(ask), texts: to.texts.all };
      const bound = boundOf(sql, first, keep, all, table.from);
      return groups === undefined
        ? asking(ask, { where: [...where, bound], texts: to.texts.all })
        : asking(ask, {
            groups: { ...groups, having: [...groups.having, bound] },
            texts: to.texts.all,
          });
    },
    (input) => ({ ...node, input }),
  );
}

/** Changes the rows that are asked for below groups and select lists. */
function withAskBelow(
  node: PlanNode,
  change: (
    ask: AskNode,
    resolve: (key: BoundExpression) => BoundExpression | undefined,
  ) => AskNode | undefined,
  rebuild: (node: PlanNode) => PlanNode,
  resolve: (key: BoundExpression) => BoundExpression | undefined = (key) => key,
): PlanNode | undefined {
  switch (node.kind) {
    case 'ask': {
      const changed = change(node, resolve);
      return changed && rebuild(changed);
    }
    case 'aggregate': {
      const below = groupsBelow(node);
      const changed = below && change(below.ask, resolve);
      return changed && rebuild({ ...node, input: changed });
    }
    case 'project':
      return withAskBelow(
        node.input,
        change,
        (input) => rebuild({ ...node, input }),
        (key) => outputOf(key, node),
      );
    default:
      return undefined;
  }
}

/** What a key of the output is over the input. */
function outputOf(key: BoundExpression, { items }: ProjectNode): BoundExpression | undefined {
  if (key.kind !== 'output-column') return undefined;
  const [item] = items.filter(
    ({ kind, ...rest }) =>
      kind === 'named' && String((rest as NamedProjectItem).path) === String(key.path),
  );
  return item?.kind === 'named' ? item.expression : undefined;
}

function boundOf(
  key: Sql,
  { descending, nulls }: SortKey,
  keep: number,
  asked: Asked,
  from: string,
): string {
  // NaN is the least number here, as null is the least value.
  const text = key.mayBeNan === true ? `if(isNaN(${key.text}), -inf, ${key.text})` : key.text;
  const isNullFirst = nulls === undefined ? !descending : nulls === 'first';
  const order = `${descending ? 'DESC' : 'ASC'} NULLS ${isNullFirst ? 'FIRST' : 'LAST'}`;
  const first = `(${selectSql(`${text} AS b`, from, asked)} ORDER BY b ${order} LIMIT ${keep})`;
  const test = descending
    ? `${text} >= (SELECT min(b) FROM ${first})`
    : `${text} <= (SELECT max(b) FROM ${first})`;
  if (!key.isNullable) return `(${test})`;
  const isNull = `isNull(${key.text})`;
  const lacks = `(SELECT count(b) FROM ${first}) < ${keep}`;
  return `(ifNull(${test}, 0) OR ${isNullFirst ? isNull : `(${isNull} AND ${lacks})`})`;
}

/** LIMIT of rows in no order. */
export function pushLimit(node: LimitNode): PlanNode | undefined {
  if (node.limit === undefined) return undefined;
  const limit = node.offset + node.limit;
  const { input } = node;
  const ask = input.kind === 'project' ? input.input : input;
  if (ask.kind !== 'ask' || askedOf(ask).groups !== undefined) return undefined;
  const limited = asking(ask, { limit: Math.min(limit, askedOf(ask).limit ?? limit) });
  return { ...node, input: input.kind === 'project' ? { ...input, input: limited } : limited };
}
