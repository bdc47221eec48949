// Grown trees as the packed nodes that kernels walk.
import {
  NODE_COLUMN_MAX,
  NODE_LEAF,
  SET_COUNT_MAX,
  SET_NODE_COLUMN_BITS,
  SET_SIZE,
} from '../../kernel/generated.ts';
import { failure } from '../../util/error.ts';
import type { Span } from '../../value/column/snapshot.ts';
import {
  type CodeColumn,
  type PackedTree,
  type TreeEnsemble,
  treeParts,
} from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import type { GrownTree } from './grow.ts';

/** What trees are packed from: their values lie node by node. */
export type PackableTree = Pick<
  GrownTree<unknown>,
  'columns' | 'rights' | 'lefts' | 'values' | 'covers'
>;

/** What the trees' outputs are. */
export interface PackShape {
  /** scores */
  readonly width: number;
  /** true: trees take turns in adding to the scores; false: each tree adds to all of them */
  readonly takesTurns: boolean;
}

/**
 * Writes trees to shared memory; the spans are the caller's to free.
 * @throws DATA_ERROR when there are more columns, or sets of categories, than nodes can name
 */
export function packTrees(
  workspace: Workspace,
  matrix: Pick<TreeEnsemble, 'features' | 'columns'>,
  trees: readonly PackableTree[],
  { width, takesTurns }: PackShape,
  arena: number,
): TreeEnsemble {
  const valueCount = takesTurns ? 1 : width;
  const rights = trees.flatMap((tree) => tree.rights.filter((right) => right !== undefined));
  const isRanges = rights.every((right) => rangeOf(right) !== undefined);
  const columnMax = isRanges ? NODE_COLUMN_MAX : 2 ** SET_NODE_COLUMN_BITS;
  const used = usedColumns(trees);
  if (used.length > columnMax) {
    throw failure(
      'DATA_ERROR',
      `trees can test at most ${columnMax} columns, not ${used.length}; fewer rounds or leaves are needed`,
    );
  }
  const positions = new Map(used.map((column, position) => [column, position]));
  const sets = new SetTable();
  const spans: Span[] = [];
  try {
    const packed = trees.map((tree): PackedTree => {
      const nodeCount = tree.columns.length;
      const span = workspace.memory.allocateIn(
        arena,
        treeParts(0, nodeCount, valueCount).sizeBytes,
      );
      spans.push(span);
      const parts = treeParts(span.offset, nodeCount, valueCount);
      const { u32, f32, f64 } = workspace.memory.get(arena);
      for (let node = 0; node < nodeCount; node++) {
        const column = positions.get(tree.columns[node] as number) ?? 0;
        const right = tree.rights[node];
        const left = tree.lefts[node] as number;
        const at = (parts.nodes + node * 8) >>> 2;
        u32[at] = isRanges ? rangeWord(column, right) : setWord(column, right, sets);
        u32[at + 1] = left - node;
        for (let k = 0; k < valueCount; k++) {
          const place = node * valueCount + k;
          f64[(parts.values >>> 3) + place] = tree.values[place] as number;
        }
        f32[(parts.covers >>> 2) + node] = tree.covers[node] as number;
      }
      return { span, nodeCount, depth: depthOf(tree) };
    });
    const bits = isRanges ? undefined : sets.bits();
    let setSpan: Span | undefined;
    if (bits !== undefined) {
      setSpan = workspace.memory.allocateIn(arena, bits.length);
      workspace.memory.get(arena).u8.set(bits, setSpan.offset);
    }
    return {
      features: matrix.features,
      columns: used.map((column) => {
        const { feature, part } = matrix.columns[column] as CodeColumn;
        return { feature, part };
      }),
      width,
      trees: packed,
      weights: packed.map(() => 1),
      divisor: 1,
      ...(takesTurns ? { slots: packed.map((_, index) => index % width) } : {}),
      ...(setSpan === undefined ? {} : { sets: setSpan }),
    };
  } catch (thrown) {
    for (const span of spans) workspace.memory.free(span);
    throw thrown;
  }
}

/** Columns that any node tests, ascending: what scoring has to encode. */
function usedColumns(trees: readonly PackableTree[]): number[] {
  const used = new Set<number>();
  for (const { columns } of trees) {
    for (const column of columns) if (column >= 0) used.add(column);
  }
  return [...used].sort((a, b) => a - b);
}

/** The codes that go left as one run, around the end if need be: first code, and length - 1. */
function rangeOf(right: Uint8Array): readonly [number, number] | undefined {
  let starts = 0;
  let first = 0;
  let count = 0;
  for (let code = 0; code < 256; code++) {
    if (right[code] === 1) continue;
    count++;
    if (right[(code + 255) & 255] === 1) {
      starts++;
      first = code;
    }
  }
  if (count === 0 || starts > 1) return undefined;
  return count === 256 ? [0, 255] : [first, count - 1];
}

function rangeWord(column: number, right: Uint8Array | undefined): number {
  if (right === undefined) return NODE_LEAF;
  const [first, length] = rangeOf(right) as readonly [number, number];
  return (column | (length << 16) | (first << 24)) >>> 0;
}

function setWord(column: number, right: Uint8Array | undefined, sets: SetTable): number {
  if (right === undefined) return 0;
  return (column | (sets.indexOf(right) << SET_NODE_COLUMN_BITS)) >>> 0;
}

/** Sets of codes, each once. The first is empty: what leaves name. */
class SetTable {
  readonly #sets: Uint8Array[] = [new Uint8Array(SET_SIZE)];
  readonly #known = new Map<string, number>();

  indexOf(right: Uint8Array): number {
    const bits = new Uint8Array(SET_SIZE);
    for (let code = 0; code < 256; code++) {
      if (right[code] === 1) bits[code >> 3] = (bits[code >> 3] as number) | (1 << (code & 7));
    }
    const key = Buffer.from(bits).toString('latin1');
    let index = this.#known.get(key);
    if (index === undefined) {
      index = this.#sets.push(bits) - 1;
      this.#known.set(key, index);
      if (index >= SET_COUNT_MAX) {
        throw failure(
          'DATA_ERROR',
          `the trees test more than ${SET_COUNT_MAX} sets of categories; fewer rounds or leaves are needed`,
        );
      }
    }
    return index;
  }

  bits(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.#sets));
  }
}

function depthOf({ columns, lefts }: PackableTree): number {
  const depths = new Uint32Array(columns.length);
  let depth = 0;
  for (let node = 0; node < columns.length; node++) {
    if (columns[node] === -1) continue;
    const below = (depths[node] as number) + 1;
    const left = lefts[node] as number;
    depths[left] = below;
    depths[left + 1] = below;
    depth = Math.max(depth, below);
  }
  return depth;
}
