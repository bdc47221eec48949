// The packed nodes of an ensemble's trees, one by one.
import { NODE_STOPS_MISSING, SET_NODE_COLUMN_BITS, SET_SIZE } from '../../kernel/generated.ts';
import { type TreeEnsemble, treeParts, valueCountOf } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';

/** Numbers of nodes are positions in the tree; the right child follows the left one. */
export interface TreeNodes {
  readonly nodeCount: number;
  /** the node itself where it is a leaf */
  left(node: number): number;
  feature(node: number): number;
  /** which of the feature's columns it is */
  part(node: number): number;
  /** position in the ensemble's columns */
  column(node: number): number;
  /** whether a code goes left; 0 is missing */
  codesLeft(node: number): (code: number) => boolean;
  /** the same for one code */
  goesLeft(node: number, code: number): boolean;
  /** a missing value ends the walk here */
  stopsMissing(node: number): boolean;
  /** @param output which of the node's values, for trees that have all outputs */
  value(node: number, output?: number): number;
  cover(node: number): number;
}

export function readTree(workspace: Workspace, ensemble: TreeEnsemble, index: number): TreeNodes {
  const tree = ensemble.trees[index] as (typeof ensemble.trees)[number];
  const { span, nodeCount } = tree;
  const valueCount = valueCountOf(ensemble);
  const { buffer } = workspace.memory.get(span.arena).memory;
  const parts = treeParts(span.offset, nodeCount, valueCount);
  const words = new Uint32Array(buffer, parts.nodes, nodeCount * 2);
  const values = new Float64Array(buffer, parts.values, nodeCount * valueCount);
  const covers = new Float32Array(buffer, parts.covers, nodeCount);
  const sets = ensemble.sets && new Uint8Array(buffer, ensemble.sets.offset);
  const mask = (sets === undefined ? NODE_STOPS_MISSING : 2 ** SET_NODE_COLUMN_BITS) - 1;
  const column = (node: number) => (words[node * 2] as number) & mask;
  const goesLeft = (node: number, code: number): boolean => {
    const word = words[node * 2] as number;
    if (sets === undefined) return ((code - (word >>> 24)) & 0xff) <= ((word >>> 16) & 0xff);
    const from = (word >>> SET_NODE_COLUMN_BITS) * SET_SIZE;
    return (((sets[from + (code >> 3)] as number) >> (code & 7)) & 1) === 0;
  };
  return {
    nodeCount,
    left: (node) => node + (words[node * 2 + 1] as number),
    column,
    feature: (node) => ensemble.columns[column(node)]?.feature ?? -1,
    part: (node) => ensemble.columns[column(node)]?.part ?? 0,
    codesLeft: (node) => (code) => goesLeft(node, code),
    goesLeft,
    stopsMissing: (node) =>
      sets === undefined && ((words[node * 2] as number) & NODE_STOPS_MISSING) !== 0,
    value: (node, output = 0) => values[node * valueCount + output] as number,
    cover: (node) => covers[node] as number,
  };
}
