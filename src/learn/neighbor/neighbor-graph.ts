// Approximate neighbors by a hierarchy of graphs: Malkov and Yashunin, "Efficient and robust
// approximate nearest neighbor search using hierarchical navigable small world graphs", 2016.
// Distances in here are squared; what leads to cosine distances is given at unit length.
import { GRAPH_TASK, GRAPH_TASK_SIZE } from '../../kernel/generated.ts';
import type { Kernels } from '../../kernel/kernels.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { Layout, type Workspace, withScratch } from '../workspace.ts';

export interface GraphOptions {
  /** neighbors a point on each level, twice as many on the lowest */
  readonly m: number;
  /** how many points a search keeps in sight while the graph is built */
  readonly efConstruction: number;
  readonly seed: number;
}

export interface GraphShape extends GraphOptions {
  readonly count: number;
  /** coordinates a point, padded to a multiple of four */
  readonly stride: number;
  /** what coordinates are multiplied by, so that squares of 32 bits neither overflow nor vanish */
  readonly scale: number;
}

/** Where the parts of a graph lie, as addresses in its arena; see `GRAPH_TASK`. */
export interface GraphPlaces {
  readonly points: number;
  readonly links: number;
  readonly upperStarts: number;
  readonly upper: number;
  /** of all of it */
  readonly sizeBytes: number;
}

const LEVEL_MAX = 16;

export function strideOf(width: number): number {
  return (width + 3) & ~3;
}

/** The level of a point, from 0: one in `m` is on the next. */
export function levelOf(point: number, { m, seed }: Pick<GraphOptions, 'm' | 'seed'>): number {
  // Mixes the number as MurmurHash3 ends.
  let hash = Math.imul(point + 1, 0x9e3779b1) ^ Math.imul(seed, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  const share = (((hash ^ (hash >>> 16)) >>> 0) + 1) / 2 ** 32;
  return Math.min(LEVEL_MAX, Math.floor(-Math.log(share) / Math.log(m)));
}

/** @param base where the graph begins; 0 where only its size is wanted */
export function graphPlaces({ count, stride, ...options }: GraphShape, base = 0): GraphPlaces {
  let lists = 0;
  for (let point = 0; point < count; point++) lists += levelOf(point, options);
  const layout = new Layout(base);
  return {
    points: layout.take(count * stride * 4),
    links: layout.take(count * (2 * options.m + 1) * 4),
    upperStarts: layout.take(count * 4),
    upper: layout.take(lists * (options.m + 1) * 4),
    sizeBytes: layout.sizeBytes,
  };
}

/** Points between two looks at the cancel flag. */
const INSERTS_PER_CHECK = 32;

export class NeighborGraph {
  readonly shape: GraphShape;
  readonly places: GraphPlaces;
  /** where searches begin; -1: the graph is empty */
  entry: number;
  topLevel: number;
  readonly #arena: number;
  readonly #workspace: Workspace;
  readonly #kernels: Kernels;

  /** @param span has room for all of `graphPlaces` */
  constructor(shape: GraphShape, span: Span, workspace: Workspace, entry = -1, topLevel = -1) {
    this.shape = shape;
    this.places = graphPlaces(shape, span.offset);
    this.entry = entry;
    this.topLevel = topLevel;
    this.#arena = span.arena;
    this.#workspace = workspace;
    this.#kernels = workspace.kernels(span.arena);
  }

  /** Adds points, whose coordinates are there, in the order of their numbers. */
  insert(from: number, to: number, check: () => void): void {
    const { efConstruction } = this.shape;
    this.#withTask(efConstruction, ({ task, spare, read }) => {
      for (let point = from; point < to; point++) {
        if ((point - from) % INSERTS_PER_CHECK === 0) check();
        const level = levelOf(point, this.shape);
        this.#kernels.insertIntoGraph(task, point, level, efConstruction, spare);
      }
      this.entry = read('entry');
      this.topLevel = read('topLevel');
    });
  }

  /** About the nearest points, nearest first. */
  search(query: Float32Array, ef: number): Int32Array {
    const efWithin = Math.min(ef, this.shape.count);
    return this.#withTask(efWithin, ({ task, spare, query: at }) => {
      const { f32, i32 } = this.#workspace.memory.get(this.#arena);
      const { scale, stride } = this.shape;
      for (let i = 0; i < stride; i++) {
        const value = i < query.length ? (query[i] as number) * scale : 0;
        f32[at / 4 + i] = Math.min(COORDINATE_MAX, Math.max(-COORDINATE_MAX, value));
      }
      const count = this.#kernels.searchGraph(task, at, efWithin, spare);
      return i32.slice(spare / 4, spare / 4 + count);
    });
  }

  /** Lends what kernels need beside the graph. */
  #withTask<Result>(ef: number, use: (lent: LentTask) => Result): Result {
    const { count, stride, m } = this.shape;
    const place = (base: number) => {
      const layout = new Layout(base);
      return {
        task: layout.take(GRAPH_TASK_SIZE),
        visited: layout.take(Math.ceil(count / 32) * 4),
        beam: layout.take((ef + 1) * 8),
        fresh: layout.take((2 * m + 4) * 4),
        chosen: layout.take(2 * m * 4),
        ranked: layout.take((2 * m + 2) * 8),
        spare: layout.take(Math.max(ef, m) * 4),
        query: layout.take(stride * 4),
        sizeBytes: layout.sizeBytes,
      };
    };
    return withScratch(this.#workspace, this.#arena, place(0).sizeBytes, (base) => {
      const { task, spare, query, ...scratch } = place(base);
      const { i32 } = this.#workspace.memory.get(this.#arena);
      const { entry, topLevel } = this;
      const fields = { ...this.places, ...scratch, stride: stride * 4, count, m, entry, topLevel };
      for (const name of FIELDS) i32[(task + GRAPH_TASK[name]) / 4] = fields[name];
      return use({ task, spare, query, read: (n) => i32[(task + GRAPH_TASK[n]) / 4] as number });
    });
  }
}

type TaskField = keyof typeof GRAPH_TASK;

const FIELDS = Object.keys(GRAPH_TASK) as TaskField[];

/** Farther away than any point, and its square is a number of 32 bits. */
const COORDINATE_MAX = 2 ** 48;

interface LentTask {
  readonly task: number;
  readonly spare: number;
  readonly query: number;
  read(field: TaskField): number;
}
