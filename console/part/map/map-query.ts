// The queries behind a map: its points with their colours, and the rows of a part of it.
import { columnExpression, quoteName } from '../sql/text.ts';
import type { Box } from './map-view.ts';

export interface MapChoice {
  readonly x: string;
  readonly y: string;
  /** the dataset that has the column of the colour, and rows of the same names */
  readonly of: string;
  /** '' for one colour */
  readonly colour: string;
}

/** Points beyond are drawn on one another; of more, rows are chosen by their hashes. */
export const POINT_COUNT_MAX = 200_000;

/** Of how many rows one is shown. */
export function samplingOf(rowCount: number): number {
  return Math.ceil(rowCount / POINT_COUNT_MAX) || 1;
}

/** Columns `x`, `y`, `row`, and `colour` where there is one. */
export function pointsSql(dataset: string, choice: MapChoice, oneIn: number): string {
  const isJoined = choice.colour !== '' && choice.of !== dataset;
  const points = isJoined ? 'points.' : '';
  const columns = [
    `${points}${columnExpression(choice.x)} AS x`,
    `${points}${columnExpression(choice.y)} AS y`,
    `${points}rowName() AS row`,
    ...(choice.colour === ''
      ? []
      : [`${isJoined ? 'colours.' : ''}${columnExpression(choice.colour)} AS colour`]),
  ];
  const from = isJoined
    ? `${quoteName(dataset)} AS points\nLEFT JOIN ${quoteName(choice.of)} AS colours ON points.rowName() = colours.rowName()`
    : quoteName(dataset);
  const where = oneIn === 1 ? '' : `\nWHERE ${points}rowHash() % ${oneIn} = 0`;
  return `SELECT ${columns.join(', ')}\nFROM ${from}${where}`;
}

/** The rows behind the points of a box: those that the map was made of, where they are known. */
export function rowsSql(
  dataset: string,
  { x, y }: MapChoice,
  box: Box,
  origin: string | undefined,
): string {
  const within = (prefix: string) =>
    [
      `${prefix}${columnExpression(x)} BETWEEN ${box.left} AND ${box.right}`,
      `${prefix}${columnExpression(y)} BETWEEN ${box.bottom} AND ${box.top}`,
    ].join('\n  AND ');
  if (origin === undefined) return `SELECT *\nFROM ${quoteName(dataset)}\nWHERE ${within('')}`;
  return `SELECT origin.*\nFROM ${quoteName(dataset)} AS points\nJOIN ${quoteName(origin)} AS origin ON points.rowName() = origin.rowName()\nWHERE ${within('points.')}`;
}

/** The columns that hold the plane, as the service prints them: of a layout, of an embedding, or the first two. */
export function planeOf(columns: readonly string[]): [x: string, y: string] | undefined {
  return (
    layoutOf(columns) ?? (columns.length < 2 ? undefined : [columns[0] ?? '', columns[1] ?? ''])
  );
}

/** The columns that `tsne.train`, `umap.train` and `svd.train` name so. */
export function layoutOf(columns: readonly string[]): [x: string, y: string] | undefined {
  const names = new Set(columns);
  for (const pair of [
    ['x', 'y'],
    ['dim0000', 'dim0001'],
  ] as const) {
    if (pair.every((name) => names.has(name))) return [...pair];
  }
  const first = columns.find((name) => name.endsWith('.0') && names.has(`${name.slice(0, -1)}1`));
  return first === undefined ? undefined : [first, `${first.slice(0, -1)}1`];
}
