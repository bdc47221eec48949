// Walking of tree ensembles. A node is 8 bytes: column u15, stop flag u1, threshold u8, offset u8,
// distance to the left child in nodes i32; the right child follows the left one. A row goes right
// when u8(code - offset) > threshold. A leaf is 0 nodes away from itself and sends nothing to the
// right, so every walk takes the same number of branchless steps and many can be interleaved to
// hide the latency of memory. Code 0 means "missing": where the flag is set no training row was
// missing, and the walk stops with the node's own value.
//
// A tree with sets has other nodes: column u14, set u18, distance i32. A set is 256 bits, one a code,
// that say which codes go right; a missing value is a code like any other.

import { NODE_COLUMN_MAX, NODE_STOPS_MISSING, SET_NODE_COLUMN_BITS, SET_SIZE } from './tree-node';

/** A tree as walks need it. */
@unmanaged
@shared
class TreeEntry {
  nodes: usize;
  /** width f64 a node */
  values: usize;
  depth: i32;
  /** the output that the tree adds to, its only value a node; -1: to all of them */
  slot: i32;
  weight: f64;
  /** where the sets lie; 0: nodes are ranges of codes */
  sets: usize;
  unused: i32;
}

@inline
function step(at: usize, row: usize): usize {
  const node = load<u64>(at);
  const code = <u32>load<u8>(row + <usize>(<u32>node & (NODE_COLUMN_MAX - 1)));
  const distance = (code - (<u32>node >> 24)) & 0xff;
  return at + (<usize>(<u32>(node >> 32) + u32(distance > ((<u32>node >> 16) & 0xff))) << 3);
}

/** As step, in a tree with sets. */
@inline
function setStep(at: usize, row: usize, sets: usize): usize {
  const node = load<u64>(at);
  const code = <u32>load<u8>(row + <usize>(<u32>node & ((1 << SET_NODE_COLUMN_BITS) - 1)));
  const set = sets + <usize>(<u32>node >> SET_NODE_COLUMN_BITS) * <usize>SET_SIZE;
  const right = (<u32>load<u8>(set + <usize>(code >> 3)) >> (code & 7)) & 1;
  return at + (<usize>(<u32>(node >> 32) + right) << 3);
}

function setWalk(at: usize, row: usize, sets: usize): usize {
  let next = at;
  do {
    at = next;
    next = setStep(at, row, sets);
  } while (next != at);
  return at;
}

/** For rows with missing values, one at a time. Answers the address where the walk ends. */
function carefulWalk(at: usize, row: usize): usize {
  let next = at;
  do {
    at = next;
    const node = load<u64>(at);
    const code = <u32>load<u8>(row + <usize>(<u32>node & (NODE_COLUMN_MAX - 1)));
    if (code == 0 && (<u32>node & NODE_STOPS_MISSING) != 0) break;
    const distance = (code - (<u32>node >> 24)) & 0xff;
    next = at + (<usize>(<u32>(node >> 32) + u32(distance > ((<u32>node >> 16) & 0xff))) << 3);
  } while (next != at);
  return at;
}

function hasZero(address: usize, size: usize): bool {
  const end = address + size;
  for (; address + 16 <= end; address += 16) {
    if (!i8x16.all_true(v128.load(address))) return true;
  }
  for (; address < end; address++) if (load<u8>(address) == 0) return true;
  return false;
}

/** Adds what a tree says at `leaf`, times the tree's weight, to the width f64 at `target`. */
@inline
function addOutput(target: usize, tree: TreeEntry, leaf: usize, width: i32): void {
  if (tree.slot >= 0) {
    const at = target + (<usize>tree.slot << 3);
    const value = load<f64>(tree.values + (leaf - tree.nodes));
    store<f64>(at, load<f64>(at) + value * tree.weight);
    return;
  }
  const source = tree.values + (leaf - tree.nodes) * <usize>width;
  for (let k: i32 = 0; k < width; k++) {
    const at = target + (<usize>k << 3);
    store<f64>(at, load<f64>(at) + load<f64>(source + (<usize>k << 3)) * tree.weight);
  }
}

/**
 * Adds the weighted outputs of all trees to `out`, rowCount x width f64. `codes`: row-major, stride
 * bytes a row. `flags`: scratch, a byte for every eight rows.
 */
export function ensembleRows(
  trees: usize,
  treeCount: i32,
  width: i32,
  codes: usize,
  stride: i32,
  rowCount: i32,
  out: usize,
  flags: usize,
): void {
  const s = <usize>stride;
  const o = <usize>width << 3;
  const groupCount = rowCount >> 3;
  for (let g: i32 = 0; g < groupCount; g++) {
    store<u8>(flags + <usize>g, <u8>hasZero(codes + <usize>(g << 3) * s, s << 3));
  }
  for (let t: i32 = 0; t < treeCount; t++) {
    const tree = changetype<TreeEntry>(trees + <usize>t * offsetof<TreeEntry>());
    const root = tree.nodes;
    const depth = tree.depth;
    let x = codes;
    let target = out;
    if (tree.sets != 0) {
      addSetTree(tree, width, codes, s, rowCount, out, o);
      continue;
    }
    for (let g: i32 = 0; g < groupCount; g++) {
      if (load<u8>(flags + <usize>g)) {
        for (let i: i32 = 0; i < 8; i++, x += s, target += o) {
          addOutput(target, tree, carefulWalk(root, x), width);
        }
        continue;
      }
      let a = root;
      let b = root;
      let c = root;
      let d = root;
      let e = root;
      let f = root;
      let h = root;
      let k = root;
      for (let q: i32 = 0; q < depth; q++) {
        a = step(a, x);
        b = step(b, x + s);
        c = step(c, x + s * 2);
        d = step(d, x + s * 3);
        e = step(e, x + s * 4);
        f = step(f, x + s * 5);
        h = step(h, x + s * 6);
        k = step(k, x + s * 7);
      }
      addOutput(target, tree, a, width);
      addOutput(target + o, tree, b, width);
      addOutput(target + o * 2, tree, c, width);
      addOutput(target + o * 3, tree, d, width);
      addOutput(target + o * 4, tree, e, width);
      addOutput(target + o * 5, tree, f, width);
      addOutput(target + o * 6, tree, h, width);
      addOutput(target + o * 7, tree, k, width);
      x += s << 3;
      target += o << 3;
    }
    for (let row = groupCount << 3; row < rowCount; row++, x += s, target += o) {
      addOutput(target, tree, carefulWalk(root, x), width);
    }
  }
}

/** A tree with sets, for all rows. */
function addSetTree(
  tree: TreeEntry,
  width: i32,
  codes: usize,
  s: usize,
  rowCount: i32,
  out: usize,
  o: usize,
): void {
  const root = tree.nodes;
  const sets = tree.sets;
  const depth = tree.depth;
  let x = codes;
  let target = out;
  let row: i32 = 0;
  for (; row + 8 <= rowCount; row += 8, x += s << 3, target += o << 3) {
    let a = root;
    let b = root;
    let c = root;
    let d = root;
    let e = root;
    let f = root;
    let h = root;
    let k = root;
    for (let q: i32 = 0; q < depth; q++) {
      a = setStep(a, x, sets);
      b = setStep(b, x + s, sets);
      c = setStep(c, x + s * 2, sets);
      d = setStep(d, x + s * 3, sets);
      e = setStep(e, x + s * 4, sets);
      f = setStep(f, x + s * 5, sets);
      h = setStep(h, x + s * 6, sets);
      k = setStep(k, x + s * 7, sets);
    }
    addOutput(target, tree, a, width);
    addOutput(target + o, tree, b, width);
    addOutput(target + o * 2, tree, c, width);
    addOutput(target + o * 3, tree, d, width);
    addOutput(target + o * 4, tree, e, width);
    addOutput(target + o * 5, tree, f, width);
    addOutput(target + o * 6, tree, h, width);
    addOutput(target + o * 7, tree, k, width);
  }
  for (; row < rowCount; row++, x += s, target += o) {
    addOutput(target, tree, setWalk(root, x, sets), width);
  }
}

/**
 * The same for one row, trees interleaved instead of rows. The sum runs in the order of the trees,
 * so it equals that of ensembleRows to the last bit.
 */
export function ensembleRow(
  trees: usize,
  treeCount: i32,
  width: i32,
  row: usize,
  stride: i32,
  out: usize,
): void {
  for (let k: i32 = 0; k < width; k++) store<f64>(out + (<usize>k << 3), 0);
  let at = trees;
  let t: i32 = 0;
  // Sets are a property of the whole ensemble.
  if (treeCount > 0 && treeAt(trees, 0).sets != 0) {
    t = addSetTreesToRow(trees, treeCount, width, row, out);
    at += <usize>t * offsetof<TreeEntry>();
  } else if (!hasZero(row, stride)) {
    for (; t + 7 < treeCount; t += 8, at += 8 * offsetof<TreeEntry>()) {
      let a = treeAt(at, 0).nodes;
      let b = treeAt(at, 1).nodes;
      let c = treeAt(at, 2).nodes;
      let d = treeAt(at, 3).nodes;
      let e = treeAt(at, 4).nodes;
      let f = treeAt(at, 5).nodes;
      let h = treeAt(at, 6).nodes;
      let k = treeAt(at, 7).nodes;
      let depth: i32 = 0;
      for (let i: i32 = 0; i < 8; i++) depth = max(depth, treeAt(at, i).depth);
      for (let q: i32 = 0; q < depth; q++) {
        a = step(a, row);
        b = step(b, row);
        c = step(c, row);
        d = step(d, row);
        e = step(e, row);
        f = step(f, row);
        h = step(h, row);
        k = step(k, row);
      }
      addOutput(out, treeAt(at, 0), a, width);
      addOutput(out, treeAt(at, 1), b, width);
      addOutput(out, treeAt(at, 2), c, width);
      addOutput(out, treeAt(at, 3), d, width);
      addOutput(out, treeAt(at, 4), e, width);
      addOutput(out, treeAt(at, 5), f, width);
      addOutput(out, treeAt(at, 6), h, width);
      addOutput(out, treeAt(at, 7), k, width);
    }
  }
  for (; t < treeCount; t++, at += offsetof<TreeEntry>()) {
    const tree = changetype<TreeEntry>(at);
    const leaf =
      tree.sets != 0 ? setWalk(tree.nodes, row, tree.sets) : carefulWalk(tree.nodes, row);
    addOutput(out, tree, leaf, width);
  }
}

/** Eight trees at a time. Answers how many are done. */
function addSetTreesToRow(
  trees: usize,
  treeCount: i32,
  width: i32,
  row: usize,
  out: usize,
): i32 {
  let at = trees;
  let t: i32 = 0;
  const sets = treeAt(trees, 0).sets;
  for (; t + 7 < treeCount; t += 8, at += 8 * offsetof<TreeEntry>()) {
    let a = treeAt(at, 0).nodes;
    let b = treeAt(at, 1).nodes;
    let c = treeAt(at, 2).nodes;
    let d = treeAt(at, 3).nodes;
    let e = treeAt(at, 4).nodes;
    let f = treeAt(at, 5).nodes;
    let h = treeAt(at, 6).nodes;
    let k = treeAt(at, 7).nodes;
    let depth: i32 = 0;
    for (let i: i32 = 0; i < 8; i++) depth = max(depth, treeAt(at, i).depth);
    for (let q: i32 = 0; q < depth; q++) {
      a = setStep(a, row, sets);
      b = setStep(b, row, sets);
      c = setStep(c, row, sets);
      d = setStep(d, row, sets);
      e = setStep(e, row, sets);
      f = setStep(f, row, sets);
      h = setStep(h, row, sets);
      k = setStep(k, row, sets);
    }
    addOutput(out, treeAt(at, 0), a, width);
    addOutput(out, treeAt(at, 1), b, width);
    addOutput(out, treeAt(at, 2), c, width);
    addOutput(out, treeAt(at, 3), d, width);
    addOutput(out, treeAt(at, 4), e, width);
    addOutput(out, treeAt(at, 5), f, width);
    addOutput(out, treeAt(at, 6), h, width);
    addOutput(out, treeAt(at, 7), k, width);
  }
  return t;
}

@inline
function treeAt(trees: usize, index: i32): TreeEntry {
  return changetype<TreeEntry>(trees + <usize>index * offsetof<TreeEntry>());
}
