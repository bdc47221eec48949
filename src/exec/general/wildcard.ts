// Wildcards over a row: which members match, and under which names they go on.
import type { PatternExclusion, StarPattern, WildcardPattern } from '../../plan/pattern.ts';
import { Path } from '../../value/path.ts';
import {
  Embedding,
  embeddingAsRow,
  Row,
  type RowBuilder,
  Scalar,
  type Value,
} from '../../value/value.ts';

/** Adds the columns of `row` that the pattern matches. */
export type WildcardCopier = (row: Row, into: RowBuilder) => void;

export function compileWildcard(pattern: WildcardPattern): WildcardCopier {
  return (row, into) => {
    copyBelow(row, [], pattern, into);
  };
}

function copyBelow(
  row: Row,
  above: readonly string[],
  pattern: WildcardPattern,
  into: RowBuilder,
): void {
  const depth = above.length;
  const { exact, prefix } = pattern;
  for (let i = 0; i < row.length; i++) {
    const name = row.names[i] as string;
    const value = row.values[i] as Value;
    if (depth < exact.length) {
      if (name === exact[depth]) descend(value, [...above, name], pattern, into);
    } else if (name.startsWith(prefix)) {
      copyMatch(value, [...above, name], pattern, into);
    }
  }
}

function descend(
  value: Value,
  path: readonly string[],
  pattern: WildcardPattern,
  into: RowBuilder,
): void {
  if (value instanceof Row) copyBelow(value, path, pattern, into);
  else if (value instanceof Embedding) copyBelow(embeddingAsRow(value), path, pattern, into);
}

/** A matching member, without what is excluded in or below it. */
function copyMatch(
  value: Value,
  path: readonly string[],
  pattern: WildcardPattern,
  into: RowBuilder,
): void {
  switch (exclusionOf(path, value, pattern.excluding)) {
    case 'all':
      return;
    case 'some':
      if (value instanceof Scalar) break;
      forEachMember(value, (name, member) => {
        copyMatch(member, [...path, name], pattern, into);
      });
      return;
    case 'none':
      break;
  }
  addRenamed(value, path, pattern, into);
}

function forEachMember(value: Row | Embedding, visit: (name: string, member: Value) => void): void {
  const row = value instanceof Row ? value : embeddingAsRow(value);
  for (let i = 0; i < row.length; i++) visit(row.names[i] as string, row.values[i] as Value);
}

/** What of a member is excluded: it and everything below, only something below, or nothing. */
function exclusionOf(
  path: readonly string[],
  value: Value,
  exclusions: readonly PatternExclusion[],
): 'all' | 'some' | 'none' {
  let some = false;
  for (const exclusion of exclusions) {
    if (exclusion.kind === 'column') {
      const excluded = exclusion.path;
      if (!sharesStart(path, excluded)) continue;
      if (path.length === excluded.length && !(value instanceof Row)) return 'all';
      some ||= path.length < excluded.length;
    } else if (matchesStar(path, exclusion.star)) {
      return 'all';
    } else {
      some ||=
        path.length <= exclusion.star.exact.length && sharesStart(path, exclusion.star.exact);
    }
  }
  return some ? 'some' : 'none';
}

function matchesStar(path: readonly string[], star: StarPattern): boolean {
  const { exact, prefix } = star;
  if (path.length <= exact.length) return false;
  if (!exact.every((element, index) => path[index] === element)) return false;
  return (path[exact.length] as string).startsWith(prefix);
}

function sharesStart(a: readonly string[], b: readonly string[]): boolean {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return false;
  return true;
}

function addRenamed(
  value: Value,
  path: readonly string[],
  pattern: WildcardPattern,
  into: RowBuilder,
): void {
  const { rename, exact, prefix } = pattern;
  switch (rename.kind) {
    case 'keep':
      into.addPath(new Path(path), value);
      return;
    case 'move': {
      const rest = path.slice(rename.from);
      if (rest.length + rename.to.length > 0) {
        into.addPath(new Path([...rename.to, ...rest]), value);
      } else if (value instanceof Scalar) {
        // The matched element is all there is: what follows the matched text is the name.
        const name = path[path.length - 1] as string;
        into.add(name.slice(prefix.length) || name, value);
      } else {
        forEachMember(value, (name, member) => into.add(name, member));
      }
      return;
    }
    case 'replace': {
      const rest = (path[exact.length] as string).slice(prefix.length);
      const last = (rename.to[rename.to.length - 1] as string) + rest;
      const start = last === '' ? rename.to.slice(0, -1) : [...rename.to.slice(0, -1), last];
      into.addPath(new Path([...start, ...path.slice(exact.length + 1)]), value);
    }
  }
}
