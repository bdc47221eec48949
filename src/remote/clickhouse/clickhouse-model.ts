// Calls of trained models as SQL of ClickHouse, where the row that they are given is known column by
// column.
import type { FormulaFeature, FormulaOutput, ModelFormula } from '../../learn/formula/formula.ts';
import { cannotFail } from '../../plan/conjunction.ts';
import type { BoundExpression, RowExpression, UserCallExpression } from '../../plan/expression.ts';
import { renamedPath } from '../../plan/pattern.ts';
import { Path } from '../../value/path.ts';
import { Scalar } from '../../value/value.ts';
import { type FeatureSql, formulaText, numberFeature, textFeature } from './clickhouse-formula.ts';
import type { Lowering, Sql } from './clickhouse-sql.ts';

type Lower = (expression: BoundExpression, to: Lowering) => Sql | undefined;

/** Characters of one output of a model; longer ones are computed by Rowan over the rows that come. */
export const MODEL_SIZE_MAX = 200_000;
/** Servers before 20.1 take time that grows with the square of an expression's parts. */
export const MODEL_SIZE_MAX_OF_OLD = 32_000;

export interface ModelOutput {
  readonly path: readonly string[];
  readonly sql: Sql;
}

/** The output at a path of the result of a call. */
export function lowerModelOutput(
  call: UserCallExpression,
  path: readonly string[],
  to: Lowering,
  lower: Lower,
): Sql | undefined {
  const model = to.models?.(call.name);
  const output = model?.outputs.find((each) => isSamePath(each.path, path));
  if (model === undefined || output === undefined) return undefined;
  const features = featuresOf(call, model, to, lower);
  return features && outputSql(output, features, to)?.sql;
}

/** All outputs of a call. @returns undefined: one of them cannot be computed there */
export function lowerModelOutputs(
  call: UserCallExpression,
  to: Lowering,
  lower: Lower,
): readonly ModelOutput[] | undefined {
  const model = to.models?.(call.name);
  const features = model && featuresOf(call, model, to, lower);
  if (features === undefined) return undefined;
  const outputs: ModelOutput[] = [];
  for (const output of model?.outputs ?? []) {
    if (output.feature !== undefined && !features.isColumn[output.feature]) continue;
    const own = outputSql(output, features, to);
    if (own === undefined) return undefined;
    outputs.push(own);
  }
  return outputs;
}

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}

function outputSql(
  { path, formula, feature, isInteger }: FormulaOutput,
  { values, isColumn }: Features,
  { modelSizeMax }: Lowering,
): ModelOutput | undefined {
  if (feature !== undefined && !isColumn[feature]) return undefined;
  const text = formulaText(formula, values, modelSizeMax ?? MODEL_SIZE_MAX_OF_OLD);
  if (text === undefined) return undefined;
  if (isInteger === true) {
    return { path, sql: { text, kind: 'integer', isNullable: false, isSmall: true } };
  }
  // Only where all parts are 0 a share is no number.
  const mayBeNan = formula.kind === 'share' && !formula.ofExponentials;
  return { path, sql: { text, kind: 'number', isNullable: false, mayBeNan } };
}

interface Features {
  /** as many as the model has */
  readonly values: readonly (FeatureSql | undefined)[];
  /** whether the row has a column for each */
  readonly isColumn: readonly boolean[];
}

/** null: NULL; undefined: it has no SQL */
type RowSql = ReadonlyMap<string, Sql | null | undefined>;

function featuresOf(
  { arg }: UserCallExpression,
  { features, member }: ModelFormula,
  to: Lowering,
  lower: Lower,
): Features | undefined {
  if (arg?.kind !== 'row') return undefined;
  const named = arg.items.map((item) => (item.kind === 'named' ? item : undefined));
  if (!named.every((item) => item !== undefined)) return undefined;
  const [own, ...more] = named.filter(({ path }) => path[0] === member);
  const others = named.filter((item) => item !== own);
  if (own?.path.length !== 1 || own.expression.kind !== 'row' || more.length > 0) return undefined;
  if (!others.every(({ expression }) => cannotFail(expression))) return undefined;
  const row = rowSql(own.expression, features, to, lower);
  if (row === undefined) return undefined;
  const values: (FeatureSql | undefined)[] = [];
  for (const feature of features) {
    const value = featureSql(feature, row);
    if (value === 'none') return undefined;
    values.push(value);
  }
  return { values, isColumn: features.map(({ name }) => row.has(name)) };
}

/** @returns 'none': it has no SQL; undefined: it is missing */
function featureSql(
  { name, kind, isNeeded }: FormulaFeature,
  row: RowSql,
): FeatureSql | 'none' | undefined {
  if (kind === 'unused') return undefined;
  if (!row.has(name)) return isNeeded === true ? 'none' : undefined;
  const value = row.get(name);
  if (value === undefined) return 'none';
  if (value === null) {
    if (kind === 'key') return { text: "''", missing: undefined, mayBeInfinite: false };
    return isNeeded === true ? 'none' : undefined;
  }
  if (kind === 'number') return numberFeature(value) ?? 'none';
  const text = textFeature(value);
  if (text === undefined) return 'none';
  return kind === 'key' ? { ...text, missing: undefined } : text;
}

/** The columns of a row by their printed paths. @returns undefined: they are not all known */
function rowSql(
  { items }: RowExpression,
  features: readonly FormulaFeature[],
  to: Lowering,
  lower: Lower,
): RowSql | undefined {
  const row = new Map<string, Sql | null | undefined>();
  const names = features.map(({ name }) => Path.parse(name).elements);
  const isAsked = (path: readonly string[]) =>
    names.some((name) => path.every((element, index) => name[index] === element));
  const add = (path: readonly string[], value: Sql | null | undefined): boolean => {
    const name = new Path(path).toString();
    // What has columns below it is no column.
    if (row.has(name) || (value === undefined && isAsked(path))) return false;
    row.set(name, value);
    return true;
  };
  for (const item of items) {
    if (item.kind === 'named') {
      const { expression, path } = item;
      const value = isNull(expression) ? null : lower(expression, to);
      if (value === undefined && !cannotFail(expression)) return undefined;
      if (!add(path, value)) return undefined;
    } else if (item.kind === 'wildcard' && item.source === 'input') {
      if (to.expressions !== undefined) return undefined;
      for (const name of to.columns.keys()) {
        const path = renamedPath(item.pattern, [name]);
        if (path === undefined) continue;
        if (path === 'below') {
          if (isStructured(name, to, lower)) return undefined;
          continue;
        }
        if (!add(path, lower(columnOf(name), to))) return undefined;
      }
    } else return undefined;
  }
  return row;
}

function isNull(expression: BoundExpression): boolean {
  return (
    expression.kind === 'constant' &&
    expression.value instanceof Scalar &&
    expression.value.atom === null
  );
}

/** Whether columns may stand below one of the table. */
function isStructured(name: string, to: Lowering, lower: Lower): boolean {
  return lower(columnOf(name), to) === undefined;
}

function columnOf(name: string): BoundExpression {
  return { kind: 'column', path: [name], type: { kind: 'any' }, start: 0, end: 0 };
}
