// Rows of a dataset: all of them in stored order, or those that names select.
import type { KeyTuples } from '../../../plan/namespace.ts';
import type { AskNode, RowLookup, ScanNode, SentKeys } from '../../../plan/plan.ts';
import { assert } from '../../../util/assert.ts';
import { RowanError } from '../../../util/error.ts';
import type { Atom } from '../../../value/atom.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import { comparePaths, Path } from '../../../value/path.ts';
import { Scalar, type Value } from '../../../value/value.ts';
import { asRow } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';
import { type RowSource, withCancellation } from './source.ts';

export function compileScan(node: ScanNode, compiler: Compiler): RowSource {
  const { runtime } = compiler;
  const { columns, lookup } = node;
  if (lookup === undefined) {
    return () => {
      const relation = runtime.namespace.dataset(node.dataset);
      return withCancellation(relation.scan(columns, node.prefilter), runtime);
    };
  }
  const names = compileNames(lookup, compiler);
  return () => {
    const relation = runtime.namespace.dataset(node.dataset);
    return names().flatMap((name): readonly ExecRow[] => relation.findRows(name, columns));
  };
}

/** Rows that another system makes. @param sources the rows of the keys that are sent there */
export function compileAsk(
  node: AskNode,
  sources: readonly RowSource[],
  compiler: Compiler,
): RowSource {
  const { runtime } = compiler;
  const lists = (node.keys ?? []).map((keys, index) =>
    compileKeys(keys, sources[index] as RowSource, compiler),
  );
  return () => {
    const { remote } = runtime.namespace.dataset(node.dataset);
    assert(remote?.pushing !== undefined, 'what is asked is understood');
    const keys = lists.map((list) => list());
    return withCancellation(remote.pushing.rows(node, keys), runtime);
  };
}

/** More keys than these are not sent: rows that have none of them are left out here. */
const KEY_COUNT_MAX = 10_000;

function compileKeys(
  { columns }: SentKeys,
  source: RowSource,
  compiler: Compiler,
): () => KeyTuples | undefined {
  const evaluators = columns.map((column) => compiler.evaluator(column));
  return () => {
    const frame = new Frame();
    const found = new Map<CanonicalKey, readonly Atom[]>();
    for (const row of source()) {
      frame.at(row);
      const values = evaluators.map((evaluate) => evaluate(frame));
      const atoms = values.map((value) => (value instanceof Scalar ? value.atom : null));
      if (atoms.includes(null)) continue;
      found.set(keyOfTuple(values), atoms);
      if (found.size > KEY_COUNT_MAX) return undefined;
    }
    return [...found.values()];
  };
}

/** The distinct names that a lookup may mean; texts that are no printed path select nothing. */
function compileNames(lookup: RowLookup, compiler: Compiler): () => Path[] {
  const evaluators = lookup.names.map((name) => compiler.evaluator(name));
  const pathsOf = lookup.printed ? printedPaths : equalPaths;
  return () => {
    const frame = new Frame();
    const values = evaluators.flatMap((evaluate) => expand(evaluate(frame), lookup.part));
    const distinct = new Map<string, Path>();
    for (const value of values) {
      if (!(value instanceof Scalar)) continue;
      for (const path of pathsOf(value)) distinct.set(path.toString(), path);
    }
    return [...distinct.values()].sort(comparePaths);
  };
}

function expand(value: Value, part: RowLookup['part']): readonly Value[] {
  if (part === undefined) return [value];
  const row = asRow(value);
  if (row === undefined) return [];
  return part === 'values' ? row.values : row.names.map((name) => new Scalar(name, 0));
}

/** rowName() is text: only a text that prints back as itself can be equal to it. */
function printedPaths({ atom }: Scalar): Path[] {
  if (typeof atom !== 'string') return [];
  const path = parsedPath(atom);
  return path?.toString() === atom ? [path] : [];
}

/** rowPath() is a path; paths are equal when their texts are, however many elements they have. */
function equalPaths({ atom }: Scalar): Path[] {
  if (typeof atom === 'string') return equalPaths(new Scalar(new Path([atom]), 0));
  if (!(atom instanceof Path)) return [];
  const text = atom.toText();
  const parsed = parsedPath(text);
  const single = new Path([text]);
  return parsed === undefined || parsed.toText() !== text ? [single] : [single, parsed];
}

function parsedPath(text: string): Path | undefined {
  try {
    return Path.parse(text);
  } catch (error) {
    if (error instanceof RowanError) return undefined;
    throw error;
  }
}
