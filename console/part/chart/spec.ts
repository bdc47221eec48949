// What a chart shows, and the query that gets it: at most MARK_COUNT_MAX marks, however many rows.
import type { ResultColumn } from '../../worker/protocol.ts';
import { columnExpression } from '../sql/text.ts';

export const MARKS = ['bar', 'line', 'area', 'dot', 'histogram'] as const;
export type Mark = (typeof MARKS)[number];

export const AGGREGATES = ['count', 'sum', 'avg', 'min', 'max'] as const;

export interface ChartSpec {
  readonly mark: Mark;
  readonly x: string;
  /** '' where rows are counted */
  readonly y: string;
  readonly aggregate: (typeof AGGREGATES)[number];
  readonly colour: string;
  readonly facet: string;
}

export const MARK_COUNT_MAX = 5000;
const BIN_COUNT = 40;
/** Bars beyond are too thin to be told apart. */
const BAR_COUNT_MAX = 40;

export function suggestChart(columns: readonly ResultColumn[]): ChartSpec {
  const named = columns.filter(({ name }) => name !== '_rowName');
  const first = (...kinds: ResultColumn['kind'][]) =>
    named.filter(({ kind }) => kinds.includes(kind));
  const numbers = first('number', 'integer');
  const texts = first('text', 'mixed');
  const [time] = first('timestamp');
  const none = { colour: '', facet: '' };
  const y = numbers[0]?.name ?? '';
  const aggregate = y === '' ? 'count' : 'avg';
  if (time !== undefined) return { mark: 'line', x: time.name, y, aggregate, ...none };
  if (texts[0] !== undefined) return { mark: 'bar', x: texts[0].name, y, aggregate, ...none };
  if (numbers[1] !== undefined) {
    return {
      mark: 'dot',
      x: numbers[0]?.name ?? '',
      y: numbers[1].name,
      aggregate: 'count',
      ...none,
    };
  }
  return { mark: 'histogram', x: y || (named[0]?.name ?? ''), y: '', aggregate: 'count', ...none };
}

export interface ChartRange {
  readonly from: number;
  readonly to: number;
}

/** @param range of x, for histograms: of finite numbers */
export function chartSql(spec: ChartSpec, sql: string, range: ChartRange | undefined): string {
  const source = `FROM (\n${sql.trim().replace(/;+\s*$/, '')}\n)`;
  const x = columnExpression(spec.x);
  const y = spec.y === '' ? '' : columnExpression(spec.y);
  const extras = (['colour', 'facet'] as const).filter((role) => spec[role] !== '');
  const named = extras.map((role) => `${columnExpression(spec[role])} AS ${role}`);
  const keys = extras.map((role) => columnExpression(spec[role]));
  if (spec.mark === 'dot') {
    return `SELECT ${[`${x} AS x`, `${y === '' ? x : y} AS y`, ...named].join(', ')}\n${source}\nLIMIT ${MARK_COUNT_MAX}`;
  }
  if (spec.mark === 'histogram') {
    const { from, to } = range ?? { from: 0, to: 1 };
    const width = (to - from) / BIN_COUNT || 1;
    const group = binExpression(x, from, width);
    return `SELECT ${[`${group} AS bin`, 'count(*) AS y', ...named].join(', ')}\n${source}\nWHERE ${x} IS NOT NULL\nGROUP BY ${[group, ...keys].join(', ')}\nLIMIT ${MARK_COUNT_MAX}`;
  }
  const value = spec.aggregate === 'count' || y === '' ? 'count(*)' : `${spec.aggregate}(${y})`;
  const order = spec.mark === 'bar' ? `${value} DESC` : x;
  const limit = spec.mark === 'bar' && extras.length === 0 ? BAR_COUNT_MAX : MARK_COUNT_MAX;
  return `SELECT ${[`${x} AS x`, `${value} AS y`, ...named].join(', ')}\n${source}\nGROUP BY ${[x, ...keys].join(', ')}\nORDER BY ${order}\nLIMIT ${limit}`;
}

function binExpression(x: string, from: number, width: number): string {
  return `floor((${x} - (${from})) / ${width})`;
}

/** The ends of a bin of a histogram. */
export function binRange(bin: number, range: ChartRange): [from: number, to: number] {
  const width = (range.to - range.from) / BIN_COUNT || 1;
  return [range.from + bin * width, range.from + (bin + 1) * width];
}
