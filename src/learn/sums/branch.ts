// Nodes of a tree as they are found from its root, for rows that are elsewhere.
import type { CodeTest, NodePath, PathChoice } from './coded-rows.ts';

/** A node: its test, or a place that is still open. */
export interface Branch {
  /** no row is there */
  isEmpty: boolean;
  fork: { readonly column: number; readonly sides: readonly Side[] } | undefined;
}

export interface Side {
  /** codes of the column that go there */
  readonly codes: CodeTest;
  readonly branch: Branch;
}

export function openBranch(): Branch {
  return { isEmpty: false, fork: undefined };
}

const NOWHERE: NodePath = { kind: 'end', value: -1 };

/** Tests from the root to some branches, whose positions are what is found there; -1 elsewhere. */
export function pathTo(root: Branch, branches: readonly Branch[]): NodePath {
  const positions = new Map(branches.map((branch, position) => [branch, position]));
  return pathOf(root, (branch) => positions.get(branch));
}

/** Tests from the root to all branches that have a value; -1 elsewhere. */
export function pathOf(root: Branch, endAt: (branch: Branch) => number | undefined): NodePath {
  const visit = (branch: Branch): NodePath => {
    const value = endAt(branch);
    if (value !== undefined) return { kind: 'end', value };
    if (branch.fork === undefined) return NOWHERE;
    const { column, sides } = branch.fork;
    const present = sides.filter(({ branch: side }) => !side.isEmpty);
    // A code that no row has may go anywhere, and the first side is told by one bound then.
    const isComplete = present.every(({ codes }) => codes[0] === 0);
    const all = present.map(({ codes: own, branch: side }, index): PathChoice => {
      const codes = isComplete && index === 0 ? Uint8Array.of(1, ...own.subarray(1)) : own;
      return { column, codes, path: visit(side) };
    });
    const choices = all.filter(({ path }) => path !== NOWHERE);
    if (choices.length === 0) return NOWHERE;
    // What is left needs no test of its own.
    const last = choices.length === all.length ? choices.pop() : undefined;
    return { kind: 'fork', choices, otherwise: last?.path ?? NOWHERE };
  };
  return visit(root);
}
