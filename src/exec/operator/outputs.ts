// How expressions read the rows of each kind of operator.
import type {
  BoundExpression,
  NamedProjectItem,
  ProjectItem,
  WildcardProjectItem,
} from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import { isWholeRow, renamedPath } from '../../plan/pattern.ts';
import type { AggregateNode, JoinInput, PlanNode, ProjectNode } from '../../plan/plan.ts';
import { ANY_TYPE } from '../../plan/type/type.ts';
import { Path } from '../../value/path.ts';
import { NotSuited, suited } from './not-suited.ts';
import { type Output, type Outputs, resolveExpression } from './pipeline.ts';
import type { MadeTable } from './table/batch-table.ts';

/** A column of a table of the pipeline. */
export function tableColumn(path: readonly string[], table = 0): BoundExpression {
  return { kind: 'column', path: [String(table), ...path], type: ANY_TYPE, start: 0, end: 0 };
}

/** The columns of a dataset. @param paths those that are needed; undefined: not known */
export function datasetOutputs(
  exists: (path: readonly string[]) => 'present' | 'absent' | undefined,
  paths: readonly (readonly string[])[] | undefined,
  isDense: boolean,
): Outputs {
  return {
    isDense,
    column(path) {
      const found = exists(path);
      return found === 'present' ? tableColumn(path) : found;
    },
    list: () =>
      paths?.every((path) => exists(path) !== undefined) === true
        ? paths
            .filter((path) => exists(path) === 'present')
            .map((path) => ({ path, expression: tableColumn(path) }))
        : undefined,
  };
}

/** Rows that an operator put into a table: a column for each path of one element. */
export function madeOutputs(table: MadeTable): Outputs {
  return datasetOutputs(
    (path) => {
      const column = table.find(path);
      return typeof column === 'number' ? 'present' : column;
    },
    table.names.map((name) => [name]),
    false,
  );
}

export const keyName = (index: number) => `key ${index}`;
export const aggregateName = (index: number) => `aggregate ${index}`;
export const windowName = (index: number) => `${HIDDEN}window ${index}`;

/** Columns whose names begin so belong to an operator: rows do not have them. */
export const HIDDEN = '\u0000';

/** Groups have no columns, only keys and aggregates. */
export function groupOutputs(node: Pick<AggregateNode, 'keys' | 'aggregates'>): Outputs {
  return {
    column: () => 'absent',
    groupKey: (index) => tableColumn([keyName(index)]),
    aggregateResult: (index) => tableColumn([aggregateName(index)]),
    list: () => [
      ...node.keys.map((_, index) => tableOutput(keyName(index))),
      ...node.aggregates.map((_, index) => tableOutput(aggregateName(index))),
    ],
  };
}

function tableOutput(name: string): Output {
  return { path: [name], expression: tableColumn([name]) };
}

/**
 * The columns that a wildcard stands for, as it names them. Undefined when they are not known, or
 * when one would lie below another.
 */
export function wildcardOutputs(
  { source, pattern }: WildcardProjectItem,
  input: Outputs,
): readonly Output[] | undefined {
  const list = source === 'input' ? input.list() : undefined;
  if (list === undefined) return undefined;
  const outputs: Output[] = [];
  for (const { path, expression } of list) {
    if (path[0]?.startsWith(HIDDEN) === true) continue;
    const renamed = renamedPath(pattern, path);
    if (renamed === 'below' && path.length > pattern.exact.length) return undefined;
    if (renamed !== undefined && renamed !== 'below') outputs.push({ path: renamed, expression });
  }
  const names = new Set(outputs.map(({ path }) => nameOfPath(path)));
  const isClear = ({ path }: Output) =>
    path.length > 0 && !prefixesOf(path).some((prefix) => names.has(prefix));
  return names.size === outputs.length && outputs.every(isClear) ? outputs : undefined;
}

/** Rows that the reference made, put into a table. */
export function outputsOfRows(node: PlanNode, table: MadeTable): Outputs {
  const made = node.kind === 'aggregate' ? groupOutputs(node) : madeOutputs(table);
  if (node.kind !== 'window') return made;
  return { ...made, windowResult: (index) => tableColumn([windowName(index)]) };
}

/** Undefined when an item is more than one named expression, or lies below another one. */
export function projectOutputs({ items }: ProjectNode, input: Outputs): Outputs | undefined {
  const [first] = items;
  if (items.length === 1 && first?.kind === 'wildcard' && isWholeRow(first.pattern)) {
    // A row has only the columns that it has values for.
    if (first.source !== 'input' || input.isDense !== true) return undefined;
    const list = () => input.list()?.filter(({ path }) => path[0]?.startsWith(HIDDEN) !== true);
    return { isDense: true, column: (path) => input.column(path), list };
  }
  const named = new Map<string, NamedProjectItem>();
  const rows = new Set<string>();
  for (const item of items) {
    if (item.kind !== 'named') return undefined;
    const name = nameOfPath(item.path);
    if (named.has(name)) return undefined;
    named.set(name, item);
    for (const prefix of prefixesOf(item.path)) rows.add(prefix);
  }
  for (const name of rows) if (named.has(name)) return undefined;
  const known = new Map<string, BoundExpression | undefined>();
  const expressionOf = (name: string, { expression }: NamedProjectItem) => {
    if (!known.has(name)) known.set(name, resolveExpression(expression, input));
    return known.get(name);
  };
  return {
    column(path) {
      const name = nameOfPath(path);
      const item = named.get(name);
      if (item !== undefined) return expressionOf(name, item);
      const isPart = rows.has(name) || prefixesOf(path).some((prefix) => named.has(prefix));
      return isPart ? undefined : 'absent';
    },
    list() {
      const outputs: Output[] = [];
      for (const [name, item] of named) {
        const expression = expressionOf(name, item);
        if (expression === undefined) return undefined;
        outputs.push({ path: item.path, expression });
      }
      return outputs;
    },
  };
}

/** U+0000 cannot occur in an element. */
function nameOfPath(path: readonly string[]): string {
  return path.join('\u0000');
}

/** The names of the rows that a path lies in. */
function prefixesOf(path: readonly string[]): string[] {
  return path.slice(1).map((_, i) => nameOfPath(path.slice(0, i + 1)));
}

/** The columns of a side of a join, below its alias where it has one. */
export interface SideOutputs {
  readonly side: JoinInput;
  readonly outputs: Outputs;
}

export function joinOutputs(sides: readonly SideOutputs[]): Outputs {
  return {
    column(path) {
      const [alias, ...below] = path;
      for (const { side, outputs } of sides) {
        if (side.alias !== undefined) {
          if (side.alias === alias) return below.length === 0 ? undefined : outputs.column(below);
          continue;
        }
        const found = outputs.column(path);
        if (found !== 'absent') return found;
      }
      return 'absent';
    },
    list() {
      const all: Output[] = [];
      for (const { side, outputs } of sides) {
        const list = outputs.list();
        if (list === undefined) return undefined;
        for (const { path, expression } of list) {
          all.push({ path: side.alias === undefined ? path : [side.alias, ...path], expression });
        }
      }
      return all;
    },
  };
}

/** The same outputs when their table has become another one of a pipeline. */
export function outputsOfTable(outputs: Outputs, table: number): Outputs {
  const move = (expression: BoundExpression) =>
    mapExpression(expression, (part) =>
      part.kind === 'column' ? { ...part, path: [String(table), ...part.path] } : part,
    );
  const moveMeaning = (meaning: ReturnType<Outputs['column']>) =>
    typeof meaning === 'object' ? move(meaning) : meaning;
  return {
    column: (path) => moveMeaning(outputs.column(path)),
    list: () =>
      outputs.list()?.map(({ path, expression }) => ({ path, expression: move(expression) })),
  };
}

export interface FeatureExpression {
  readonly path: readonly string[];
  readonly expression: BoundExpression;
}

/**
 * What a row of features consists of, about the tables of the pipeline.
 * @throws NotSuited where only the rows tell what there is, or a name occurs twice
 */
export function featureExpressions(
  items: readonly ProjectItem[],
  prefix: readonly string[],
  outputs: Outputs,
): FeatureExpression[] {
  const features = items.flatMap((item): FeatureExpression[] => {
    switch (item.kind) {
      case 'named': {
        const path = [...prefix, ...item.path];
        if (item.expression.kind === 'row') {
          return featureExpressions(item.expression.items, path, outputs);
        }
        const expression = suited(resolveExpression(item.expression, outputs));
        return [{ path, expression }];
      }
      case 'wildcard': {
        if (item.source !== 'input') throw new NotSuited();
        return suited(outputs.list()).flatMap(({ path, expression }) => {
          const renamed = renamedPath(item.pattern, path);
          if (renamed === 'below') throw new NotSuited();
          return renamed === undefined ? [] : [{ path: [...prefix, ...renamed], expression }];
        });
      }
      default:
        throw new NotSuited();
    }
  });
  const names = new Set(features.map(({ path }) => new Path(path).toString()));
  if (names.size < features.length) throw new NotSuited();
  return features;
}
