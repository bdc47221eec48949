// The graph of an embedding: made when rows are committed, kept beside the columns in shared memory.

import type { Arena } from '../../value/column/arena.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type {
  ColumnarSnapshot,
  ColumnSnapshot,
  GraphSnapshot,
  Span,
} from '../../value/column/snapshot.ts';
import { bytesOf } from '../../value/column/span-view.ts';
import { makeWorkspace } from '../workspace.ts';
import { graphIndex, RecallSample } from './graph-index.ts';
import { graphPlaces, levelOf, NeighborGraph, strideOf } from './neighbor-graph.ts';
import { type Metric, PointSpace, toUnitLength } from './point-space.ts';

export interface GraphParams {
  readonly metric: Metric;
  readonly M: number;
  readonly efConstruction: number;
  /** undefined: as many as give RECALL_MIN */
  readonly efSearch?: number | undefined;
  readonly randomSeed: number;
}

/** Searches keep more points in sight until they find this share of the ten nearest. */
const RECALL_MIN = 0.95;
const EF_MIN = 64;
const EF_MAX = 1024;

/** The coordinates of all rows, row by row. */
export function readCoordinates(
  columns: readonly ColumnSnapshot[],
  rowCount: number,
  arenas: ArenaAllocator,
  check: () => void,
): Float32Array {
  const width = columns.length;
  const coordinates = new Float32Array(rowCount * width);
  for (const [column, stored] of columns.entries()) {
    check();
    const view = new ColumnView(stored, arenas);
    let offset = column;
    for (let c = 0; c < view.chunkCount; c++) {
      const chunk = view.chunk(c);
      for (let row = 0; row < chunk.rowCount; row++, offset += width) {
        coordinates[offset] = chunk.numberAt(row);
      }
    }
  }
  return coordinates;
}

/**
 * The content with a graph of its rows. Of a graph that there was of the first rows, the rest is
 * added to a copy.
 */
export function withGraph(
  snapshot: ColumnarSnapshot,
  previous: ColumnarSnapshot | undefined,
  params: GraphParams,
  arenas: ArenaAllocator,
  check: () => void,
): ColumnarSnapshot {
  const { rowCount, columns } = snapshot;
  if (rowCount === 0 || columns.length === 0) return snapshot;
  const start = performance.now();
  const { metric } = params;
  const width = columns.length;
  const coordinates = readCoordinates(columns, rowCount, arenas, check);
  const { graph, span } = buildGraph(coordinates, width, params, arenas, check, previous?.graph);
  const space = new PointSpace(metric, width, coordinates);
  const sample = new RecallSample(space, check);
  const index = graphIndex(space, graph, EF_MIN);
  let efSearch = params.efSearch ?? EF_MIN;
  let recall = sample.recallOf(index, efSearch, check);
  while (params.efSearch === undefined && recall < RECALL_MIN && efSearch < EF_MAX) {
    efSearch *= 2;
    recall = sample.recallOf(index, efSearch, check);
  }
  return {
    ...snapshot,
    graph: {
      span,
      shape: graph.shape,
      entry: graph.entry,
      topLevel: graph.topLevel,
      efSearch,
      buildSecs: Math.round(performance.now() - start) / 1000,
      recallAt10: recall,
      recallSample: sample.size,
    },
  };
}

/** @param known a graph of the first points, whose links are taken over */
export function buildGraph(
  coordinates: Float32Array,
  width: number,
  { metric, M: m, efConstruction, randomSeed: seed }: GraphParams,
  arenas: ArenaAllocator,
  check: () => void,
  known?: GraphSnapshot,
): { readonly graph: NeighborGraph; readonly span: Span } {
  const count = coordinates.length / width;
  const scale = metric === 'cosine' ? 1 : scaleOf(coordinates);
  const shape = { count, stride: strideOf(width), scale, m, efConstruction, seed };
  const span = arenas.allocate(graphPlaces(shape).sizeBytes);
  // Lists without links begin with 0.
  bytesOf(arenas, span).fill(0);
  const arena = arenas.get(span.arena);
  const workspace = makeWorkspace(arenas);
  const graph = new NeighborGraph(shape, span, workspace, known?.entry, known?.topLevel);
  placePoints(graph, arena, coordinates, metric);
  if (known !== undefined) copyLinks(known, arenas, graph, arena);
  graph.insert(known?.shape.count ?? 0, count, check);
  return { graph, span };
}

/** The graph as another thread reads it. */
export function graphOf(graph: GraphSnapshot, arenas: ArenaAllocator): NeighborGraph {
  const { shape, span, entry, topLevel } = graph;
  return new NeighborGraph(shape, span, makeWorkspace(arenas), entry, topLevel);
}

/** Brings the largest coordinate to between 1/2 and 1. */
function scaleOf(coordinates: Float32Array): number {
  let largest = 0;
  for (const value of coordinates) largest = Math.max(largest, Math.abs(value));
  return largest === 0 ? 1 : 2 ** -Math.max(-1000, Math.ceil(Math.log2(largest)));
}

function placePoints(
  { shape, places }: NeighborGraph,
  { f32, i32 }: Arena,
  coordinates: Float32Array,
  metric: Metric,
): void {
  const { count, stride, scale } = shape;
  const width = coordinates.length / count;
  let lists = 0;
  for (let row = 0; row < count; row++) {
    const start = places.points / 4 + row * stride;
    const point = f32.subarray(start, start + stride);
    for (let i = 0; i < width; i++) point[i] = (coordinates[row * width + i] as number) * scale;
    if (metric === 'cosine') toUnitLength(point);
    i32[places.upperStarts / 4 + row] = lists;
    lists += levelOf(row, shape);
  }
}

/** Points keep their numbers, so their lists keep their places. */
function copyLinks(
  known: GraphSnapshot,
  arenas: ArenaAllocator,
  to: NeighborGraph,
  { u8 }: Arena,
): void {
  const from = graphPlaces(known.shape, known.span.offset);
  const source = arenas.get(known.span.arena).u8;
  u8.set(source.subarray(from.links, from.upperStarts), to.places.links);
  const end = known.span.offset + from.sizeBytes;
  u8.set(source.subarray(from.upper, end), to.places.upper);
}
