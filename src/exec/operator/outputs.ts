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

/**
 * Columns of a table. @param paths those that are needed
 * @param presenceOf which rows have a column; absent: all
 */
export function datasetOutputs(
  exists: (path: readonly string[]) => 'present' | 'absent' | undefined,
  paths: readonly (readonly string[])[],
  presenceOf?: (path: readonly string[]) => Output['presence'],
): Outputs {
  return {
    column(path) {
      const found = exists(path);
      return found === 'present' ? tableColumn(path) : found;
    },
    list: () =>
      paths.every((path) => exists(path) !== undefined)
        ? paths
            .filter((path) => exists(path) === 'present')
            .map((path) => ({ path, expression: tableColumn(path), presence: presenceOf?.(path) }))
        : undefined,
  };
}

/**
 * Rows that an operator put into a table: a column for each path of one element.
 * @param presenceOf which rows have a column, by its name; absent: all
 */
export function madeOutputs(
  table: MadeTable,
  presenceOf?: (name: string) => Output['presence'],
): Outputs {
  return datasetOutputs(
    (path) => {
      const column = table.find(path);
      return typeof column === 'number' ? 'present' : column;
    },
    table.names.map((name) => [name]),
    presenceOf && (([name = '']) => presenceOf(name)),
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
  item: WildcardProjectItem,
  input: Outputs,
): readonly Output[] | undefined {
  const outputs = matchedOutputs(item, input);
  return outputs && areApart(outputs) ? outputs : undefined;
}

function matchedOutputs(
  { source, pattern }: WildcardProjectItem,
  input: Outputs,
): readonly Output[] | undefined {
  const list = source === 'input' ? input.list() : undefined;
  if (list === undefined) return undefined;
  const outputs: Output[] = [];
  for (const output of list) {
    const { path } = output;
    if (path[0]?.startsWith(HIDDEN) === true) continue;
    const renamed = renamedPath(pattern, path);
    if (renamed === 'below' && path.length > pattern.exact.length) return undefined;
    if (renamed !== undefined && renamed !== 'below') outputs.push({ ...output, path: renamed });
  }
  return outputs;
}

/** Whether paths differ, and none lies below another one. */
function areApart(outputs: readonly { readonly path: readonly string[] }[]): boolean {
  const names = new Set(outputs.map(({ path }) => nameOfPath(path)));
  const isClear = ({ path }: { readonly path: readonly string[] }) =>
    path.length > 0 && !prefixesOf(path).some((prefix) => names.has(prefix));
  return names.size === outputs.length && outputs.every(isClear);
}

/** Rows that were put into a table, and which of them have a column. */
export interface TableOfRows {
  readonly table: MadeTable;
  presenceOf(name: string): Output['presence'];
}

/** Rows that the reference made, put into a table. */
export function outputsOfRows(node: PlanNode, { table, presenceOf }: TableOfRows): Outputs {
  const made = node.kind === 'aggregate' ? groupOutputs(node) : madeOutputs(table, presenceOf);
  if (node.kind !== 'window') return made;
  return { ...made, windowResult: (index) => tableColumn([windowName(index)]) };
}

/**
 * Undefined when an item is more than a named expression or a wildcard over known columns, or two
 * columns have the same name, or one lies below another one.
 */
export function projectOutputs({ items }: ProjectNode, input: Outputs): Outputs | undefined {
  const [only] = items;
  if (items.length === 1 && only?.kind === 'wildcard' && isWholeRow(only.pattern)) {
    return only.source === 'input' ? wholeOutputs(input) : undefined;
  }
  const columns: ProjectedColumn[] = [];
  for (const item of items) {
    if (item.kind === 'named') columns.push({ path: item.path, item });
    else if (item.kind === 'wildcard') {
      const outputs = matchedOutputs(item, input);
      if (outputs === undefined || outputs.some(({ presence }) => presence === 'mixed')) {
        return undefined;
      }
      for (const output of outputs) columns.push({ path: output.path, output });
    } else return undefined;
  }
  if (!areApart(columns)) return undefined;
  const known = new Map(columns.map((column) => [nameOfPath(column.path), column]));
  const rows = new Set(columns.flatMap(({ path }) => prefixesOf(path)));
  const resolved = new Map<NamedProjectItem, BoundExpression | undefined>();
  const expressionOf = (column: ProjectedColumn) => {
    if ('output' in column) return column.output.expression;
    const { item } = column;
    if (!resolved.has(item)) resolved.set(item, resolveExpression(item.expression, input));
    return resolved.get(item);
  };
  return {
    column(path) {
      const name = nameOfPath(path);
      const column = known.get(name);
      if (column !== undefined) return expressionOf(column);
      const isPart = rows.has(name) || prefixesOf(path).some((prefix) => known.has(prefix));
      return isPart ? undefined : 'absent';
    },
    list() {
      const outputs: Output[] = [];
      for (const column of columns) {
        const expression = expressionOf(column);
        if (expression === undefined) return undefined;
        const presence = 'output' in column ? column.output.presence : undefined;
        outputs.push({ path: column.path, expression, presence });
      }
      return outputs;
    },
  };
}

type ProjectedColumn = { readonly path: readonly string[] } & (
  | { readonly item: NamedProjectItem }
  | { readonly output: Output }
);

/** All columns under their names. Undefined when only rows tell which of them they have. */
function wholeOutputs(input: Outputs): Outputs | undefined {
  const list = () => input.list()?.filter(({ path }) => path[0]?.startsWith(HIDDEN) !== true);
  if (list()?.every(({ presence }) => presence !== 'mixed') !== true) return undefined;
  return { column: (path) => input.column(path), list };
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
        for (const output of list) {
          const { path } = output;
          all.push({ ...output, path: side.alias === undefined ? path : [side.alias, ...path] });
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
      outputs.list()?.map((output) => ({ ...output, expression: move(output.expression) })),
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
