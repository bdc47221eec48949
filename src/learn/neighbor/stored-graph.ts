// The graph of an embedding: made when rows are committed, kept beside the columns in shared memory.

import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type {
  ColumnarSnapshot,
  ColumnSnapshot,
  GraphSnapshot,
  Span,
} from '../../value/column/snapshot.ts';
import { bytesOf, int32Of } from '../../value/column/span-view.ts';
import { graphIndex, RecallSample, toUnitLength } from './graph-index.ts';
import {
  type GraphArrays,
  type GraphShape,
  graphSizes,
  levelOf,
  NeighborGraph,
  strideOf,
} from './neighbor-graph.ts';
import { type Metric, PointSpace } from './point-space.ts';

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
  const { metric, M: m, efConstruction, randomSeed: seed } = params;
  const width = columns.length;
  const coordinates = readCoordinates(columns, rowCount, arenas, check);
  const shape = { count: rowCount, stride: strideOf(width), m, efConstruction, seed };
  const spans = allocate(shape, arenas);
  const arrays = arraysOf(spans, arenas);
  placePoints(arrays, shape, coordinates, metric);
  const known = previous?.graph;
  const graph = new NeighborGraph(shape, arrays, known?.entry, known?.topLevel);
  if (known !== undefined) copyLinks(arraysOf(known, arenas), arrays);
  for (let row = known?.shape.count ?? 0; row < rowCount; row++) {
    check();
    graph.insert(row);
  }
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
      ...spans,
      shape,
      entry: graph.entry,
      topLevel: graph.topLevel,
      efSearch,
      buildSecs: Math.round(performance.now() - start) / 1000,
      recallAt10: recall,
      recallSample: sample.size,
    },
  };
}

/** The graph as another thread reads it. */
export function graphOf(graph: GraphSnapshot, arenas: ArenaAllocator): NeighborGraph {
  return new NeighborGraph(graph.shape, arraysOf(graph, arenas), graph.entry, graph.topLevel);
}

type GraphSpans = Pick<GraphSnapshot, 'points' | 'links' | 'upperStarts' | 'upper'>;

function allocate(shape: GraphShape, arenas: ArenaAllocator): GraphSpans {
  const sizes = graphSizes(shape);
  const words = (count: number): Span => {
    const span = arenas.allocate(Math.max(1, count) * 4);
    bytesOf(arenas, span).fill(0);
    return span;
  };
  return {
    points: words(sizes.points),
    links: words(sizes.links),
    upperStarts: words(sizes.upperStarts),
    upper: words(sizes.upper),
  };
}

function arraysOf(spans: GraphSpans, arenas: ArenaAllocator): GraphArrays {
  const { points } = spans;
  const start = points.offset / 4;
  return {
    points: arenas.get(points.arena).f32.subarray(start, start + points.sizeBytes / 4),
    links: int32Of(arenas, spans.links),
    upperStarts: int32Of(arenas, spans.upperStarts),
    upper: int32Of(arenas, spans.upper),
  };
}

function placePoints(
  { points, upperStarts }: GraphArrays,
  shape: GraphShape,
  coordinates: Float32Array,
  metric: Metric,
): void {
  const { count, stride } = shape;
  const width = coordinates.length / count;
  let lists = 0;
  for (let row = 0; row < count; row++) {
    const point = points.subarray(row * stride, (row + 1) * stride);
    point.set(coordinates.subarray(row * width, (row + 1) * width));
    if (metric === 'cosine') toUnitLength(point);
    upperStarts[row] = lists;
    lists += levelOf(row, shape);
  }
}

/** Points keep their numbers, so their lists keep their places. */
function copyLinks(from: GraphArrays, to: GraphArrays): void {
  to.links.set(from.links);
  to.upper.set(from.upper);
}
