// Draws charts with Observable Plot; loaded when a chart is shown.
import * as Plot from '@observablehq/plot';
import { binRange, type ChartRange, type ChartSpec } from './spec.ts';

export interface ChartRow {
  readonly x?: unknown;
  readonly y?: unknown;
  readonly bin?: number;
  readonly colour?: unknown;
  readonly facet?: unknown;
}

export interface DrawnSize {
  readonly width: number;
  readonly height: number;
}

export function drawChart(
  spec: ChartSpec,
  rows: readonly ChartRow[],
  range: ChartRange | undefined,
  size: DrawnSize,
  valueLabel?: string,
): Element {
  const data = rows.map((row) => plotRow(row, range));
  const facet = spec.facet === '' ? {} : { fx: 'facet' };
  const colour = spec.colour === '' ? {} : { [isLine(spec) ? 'stroke' : 'fill']: 'colour' };
  const yLabel =
    valueLabel ??
    (spec.y === '' || spec.aggregate === 'count' ? 'rows' : `${spec.aggregate} of ${spec.y}`);
  const isDiscrete = spec.mark === 'bar';
  // Names are read along a line, so bars of names lie.
  const names = isDiscrete ? orderOf(data) : [];
  const axes = isDiscrete
    ? {
        height: Math.max(90, names.length * BAR_HEIGHT + 60),
        marginLeft: Math.min(
          220,
          24 + 6.4 * Math.max(4, ...names.map((name) => String(name).length)),
        ),
        x: { label: yLabel, grid: true },
        marginTop: 28,
        y: {
          label: spec.x,
          labelAnchor: 'top' as const,
          labelArrow: 'none' as const,
          domain: names,
          tickFormat: shortName,
        },
      }
    : {
        marginLeft: 56,
        x: { label: spec.x },
        y: { label: spec.mark === 'dot' ? spec.y : yLabel, grid: true },
      };
  return draw({
    ...size,
    ...(spec.colour === '' ? {} : { color: { legend: true } }),
    ...axes,
    ...(spec.facet === '' ? {} : { fx: { label: spec.facet } }),
    marks: marksOf(spec, data, { ...facet, ...colour }),
  });
}

type Row = ChartRow & { readonly from?: number; readonly to?: number };

function marksOf(spec: ChartSpec, data: readonly Row[], channels: object): Plot.Markish[] {
  const tip = { tip: { className: 'plot-tip', fill: 'var(--ground)' } };
  switch (spec.mark) {
    case 'histogram':
      return [
        Plot.rectY(data, {
          x1: 'from',
          x2: 'to',
          y: 'y',
          inset: 0.5,
          fill: 'var(--accent)',
          ...channels,
          ...tip,
        }),
        Plot.ruleY([0]),
      ];
    case 'bar':
      return [
        Plot.barX(data, { y: 'x', x: 'y', fill: 'var(--accent)', ...channels, ...tip }),
        Plot.ruleX([0]),
      ];
    case 'line':
      return [Plot.lineY(data, { x: 'x', y: 'y', stroke: 'var(--accent)', ...channels, ...tip })];
    case 'area':
      return [
        Plot.areaY(data, {
          x: 'x',
          y: 'y',
          fill: 'var(--accent)',
          fillOpacity: 0.6,
          ...channels,
          ...tip,
        }),
        Plot.ruleY([0]),
      ];
    case 'dot':
      return [
        Plot.dot(data, {
          x: 'x',
          y: 'y',
          fill: 'var(--accent)',
          r: 2.5,
          fillOpacity: 0.7,
          ...channels,
          ...tip,
        }),
      ];
  }
}

const BAR_HEIGHT = 20;
const NAME_LENGTH_MAX = 32;

function shortName(name: unknown): string {
  const text = String(name);
  return text.length > NAME_LENGTH_MAX ? `${text.slice(0, NAME_LENGTH_MAX)}…` : text;
}

function isLine({ mark }: ChartSpec): boolean {
  return mark === 'line';
}

/** Timestamps become dates; NULL has a name where it is a group. */
function plotRow(row: ChartRow, range: ChartRange | undefined): Row {
  const plain = {
    ...row,
    x: plotValue(row.x),
    y: Number(row.y),
    colour: row.colour === null ? 'NULL' : plotValue(row.colour),
    facet: row.facet === null ? 'NULL' : plotValue(row.facet),
  };
  if (row.bin === undefined || range === undefined) return plain;
  const [from, to] = binRange(Number(row.bin), range);
  return { ...plain, from, to };
}

function plotValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value ?? 'NULL';
  const { ts, num } = value as { ts?: string; num?: string };
  if (ts !== undefined) return new Date(ts);
  return num === undefined ? JSON.stringify(value) : Number.NaN;
}

function orderOf(data: readonly Row[]): unknown[] {
  return [...new Set(data.map(({ x }) => x))];
}

/** A curve of a model: lines with a point that the threshold has chosen. */
export interface CurveOptions extends DrawnSize {
  readonly xLabel: string;
  readonly yLabel: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly chosen: readonly [x: number, y: number] | undefined;
  /** drawn thin, for comparison, for instance the diagonal */
  readonly reference?: readonly (readonly [x: number, y: number])[];
  readonly hasDots?: boolean;
  readonly domain?: readonly [number, number];
}

export function drawCurve(options: CurveOptions): Element {
  const {
    width,
    height,
    points,
    chosen,
    reference = [],
    xLabel,
    yLabel,
    hasDots = false,
  } = options;
  const domain = [...(options.domain ?? [0, 1])];
  return draw({
    ...{ width, height, marginLeft: 44, marginBottom: 36 },
    x: { label: xLabel, domain, grid: true },
    y: { label: yLabel, domain, grid: true },
    marks: [
      Plot.line(reference.map(plainPoint), { stroke: 'var(--dim)', strokeDasharray: '3 3' }),
      Plot.line(points.map(plainPoint), { stroke: 'var(--accent)', strokeWidth: 2 }),
      ...(hasDots ? [Plot.dot(points.map(plainPoint), { fill: 'var(--accent)', r: 3 })] : []),
      ...(chosen === undefined
        ? []
        : [
            Plot.dot([plainPoint(chosen)], {
              r: 5,
              fill: 'var(--ground)',
              stroke: 'var(--accent)',
              strokeWidth: 2.5,
            }),
          ]),
    ],
  });
}

function plainPoint([x, y]: readonly [number, number]): [number, number] {
  return [x, y];
}

/** Style sheets that Plot writes into its pictures are let in by the nonce of the page. */
function draw(options: Plot.PlotOptions): Element {
  const figure = Plot.plot({ style: { background: 'transparent', color: 'inherit' }, ...options });
  const nonce = document.querySelector<HTMLScriptElement>('script[data-worker]')?.nonce ?? '';
  for (const style of figure.querySelectorAll('style')) style.nonce = nonce;
  // The holder says what the picture shows; labels of its parts mean nothing to who cannot see it.
  for (const part of figure.querySelectorAll('[aria-label]')) part.removeAttribute('aria-label');
  return figure;
}
