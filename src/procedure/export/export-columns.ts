// The columns of an exported query in the order of its select list. Each item of the list is given a
// row of its own in the result, so that a column that two items name is written twice, and points of
// different items never count as several values of one.
import { compileWildcard } from '../../exec/general/wildcard.ts';
import type { ProjectItem } from '../../plan/expression.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { PlanNode, QueryPlan } from '../../plan/plan.ts';
import { isAtomType, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { Path } from '../../value/path.ts';
import { flatten, NULL_VALUE, Row, RowBuilder } from '../../value/value.ts';

type ProjectNode = Extract<PlanNode, { kind: 'project' }>;

/** Below this name the result has what is exported. */
const EXPORT_NAME = '\u0000export';

/** The plan with the rows of its items beside its own columns, which sorting may read. */
export function separateItems(plan: QueryPlan): QueryPlan {
  return { ...plan, root: withSeparateItems(plan.root) };
}

function withSeparateItems(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'limit':
      return { ...node, input: withSeparateItems(node.input) };
    case 'sort':
    case 'distinct-on':
      return { ...node, input: withBoth(node.input) };
    case 'project':
      return { ...node, items: node.items.map(separateItem) };
    default:
      return node;
  }
}

function withBoth(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'sort':
    case 'distinct-on':
      return { ...node, input: withBoth(node.input) };
    case 'project':
      return { ...node, items: [...node.items, ...node.items.map(separateItem)] };
    default:
      return node;
  }
}

function separateItem(item: ProjectItem, index: number): ProjectItem {
  const place = [EXPORT_NAME, String(index)];
  if (item.kind === 'named') return { ...item, path: [...place, ...item.path] };
  const { start, end } = item;
  const expression = { kind: 'row', items: [item], type: OPEN_ROW_TYPE, start, end } as const;
  return { kind: 'named', path: place, expression, start, end };
}

/** What is exported of a row of the result of a plan with separate items. */
export function separatedRow(row: Row): Row {
  const [value] = row.all(EXPORT_NAME);
  return value instanceof Row ? value : new Row([], []);
}

/**
 * The columns of each item, as far as the plan and its datasets tell them; undefined where only the
 * rows do.
 * @param plan as it was before its items were separated
 */
export function knownItemColumns(
  plan: QueryPlan,
  namespace: Namespace,
): readonly (readonly Path[] | undefined)[] {
  const project = projectOf(plan.root);
  if (project === undefined) return [];
  const scanned = scannedDataset(project);
  const input = scanned === undefined ? undefined : namespace.dataset(scanned).columns();
  const paths = input?.map(({ path }) => path);
  return project.items.map((item) => columnsOfItem(item, paths));
}

function projectOf(node: PlanNode): ProjectNode | undefined {
  switch (node.kind) {
    case 'project':
      return node;
    case 'limit':
    case 'sort':
    case 'distinct-on':
      return projectOf(node.input);
    default:
      return undefined;
  }
}

/** The dataset whose columns, and no others, reach the select list. */
function scannedDataset(project: ProjectNode): string | undefined {
  let node: PlanNode = project.input;
  while (node.kind !== 'scan') {
    switch (node.kind) {
      case 'filter':
      case 'when':
      case 'sort':
      case 'limit':
      case 'distinct-on':
        node = node.input;
        break;
      default:
        return undefined;
    }
  }
  return node.dataset;
}

function columnsOfItem(
  item: ProjectItem,
  input: readonly Path[] | undefined,
): readonly Path[] | undefined {
  if (item.kind === 'named') {
    const { expression, path } = item;
    if (isAtomType(expression.type)) return [new Path(path)];
    return expression.kind === 'column' && input !== undefined
      ? columnsBelow(expression.path, path, input)
      : undefined;
  }
  if (item.kind !== 'wildcard' || item.source !== 'input' || input === undefined) return undefined;
  const builder = new RowBuilder();
  compileWildcard(item.pattern)(rowOfNulls(input), builder);
  const columns: Path[] = [];
  flatten(builder.build(), [], (path) => columns.push(path));
  return columns;
}

/** The column itself, or the flat columns that it stands for, under the name of the item. */
function columnsBelow(
  column: readonly string[],
  name: readonly string[],
  input: readonly Path[],
): readonly Path[] {
  const found = input
    .filter(({ elements }) => column.every((element, index) => elements[index] === element))
    .map(({ elements }) => new Path([...name, ...elements.slice(column.length)]));
  return found.length === 0 ? [new Path(name)] : found;
}

function rowOfNulls(paths: readonly Path[]): Row {
  const builder = new RowBuilder();
  for (const path of paths) builder.addPath(path, NULL_VALUE);
  return builder.build();
}
