// Rows of a dataset: all of them in stored order, or those that names select.
import type { Relation } from '../../../plan/catalog.ts';
import type { RowLookup, ScanNode } from '../../../plan/plan.ts';
import { RowanError } from '../../../util/error.ts';
import { comparePaths, Path } from '../../../value/path.ts';
import { atomText } from '../../../value/text.ts';
import { Scalar, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { asRow } from '../lookup.ts';
import type { ExecRow } from '../row.ts';
import { type RowSource, withCancellation } from './source.ts';

export function compileScan(node: ScanNode, compiler: Compiler): RowSource {
  const { runtime } = compiler;
  const { columns, lookup } = node;
  if (lookup === undefined) {
    return () => withCancellation(runtime.catalog.dataset(node.dataset).scan(columns), runtime);
  }
  const names = compileNames(lookup, compiler);
  return () => {
    const relation = runtime.catalog.dataset(node.dataset);
    return names().flatMap((name): readonly ExecRow[] => relation.findRows(name, columns));
  };
}

/** The distinct names of a lookup; texts that are no printed path select nothing. */
function compileNames(lookup: RowLookup, compiler: Compiler): () => Path[] {
  const evaluators = lookup.names.map((name) => compiler.evaluator(name));
  const toPath = lookup.printed ? parsePrinted : elementPath;
  return () => {
    const frame = new Frame();
    const values = evaluators.flatMap((evaluate) => expand(evaluate(frame), lookup.part));
    const distinct = new Map<string, Path>();
    for (const value of values) {
      const path = value instanceof Scalar ? toPath(value) : undefined;
      if (path !== undefined) distinct.set(path.toString(), path);
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
function parsePrinted({ atom }: Scalar): Path | undefined {
  if (typeof atom !== 'string') return undefined;
  try {
    const path = Path.parse(atom);
    return path.toString() === atom ? path : undefined;
  } catch (error) {
    if (error instanceof RowanError) return undefined;
    throw error;
  }
}

/** rowPath() is a path: equal to a path of the same text, or to a string as one element. */
function elementPath({ atom }: Scalar): Path | undefined {
  if (atom instanceof Path) return atom;
  return typeof atom === 'string' ? new Path([atomText(atom)]) : undefined;
}

/** The relation behind a scan. */
export function scannedRelation(node: ScanNode, compiler: Compiler): Relation {
  return compiler.runtime.catalog.dataset(node.dataset);
}
