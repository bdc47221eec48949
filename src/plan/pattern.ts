// Wildcards of select lists: which columns they match and what the columns are called then.

/** Columns whose leading elements are `exact` and whose next element starts with `prefix`. */
export interface StarPattern {
  readonly exact: readonly string[];
  readonly prefix: string;
}

export type PatternExclusion =
  | { readonly kind: 'column'; readonly path: readonly string[] }
  | { readonly kind: 'star'; readonly star: StarPattern };

/**
 * What becomes of the names. `keep`: they stay. `move`: the elements from `from` on go below `to`.
 * `replace`: `exact` and the matched start of the next element become `to`; the rest of that
 * element continues the last element of `to`.
 */
export type PatternRename =
  | { readonly kind: 'keep' }
  | { readonly kind: 'move'; readonly to: readonly string[]; readonly from: number }
  | { readonly kind: 'replace'; readonly to: readonly string[] };

export interface WildcardPattern extends StarPattern {
  readonly excluding: readonly PatternExclusion[];
  readonly rename: PatternRename;
}

/** `*`, `x*` or `x.*` as a pattern over full column paths. */
export function patternOfStar(path: readonly string[], dotted: boolean): StarPattern {
  if (dotted || path.length === 0) return { exact: path, prefix: '' };
  return { exact: path.slice(0, -1), prefix: path[path.length - 1] as string };
}

/** The renaming that `star AS replacement` asks for. */
export function renameOfStar(pattern: StarPattern, replacement: Replacement): PatternRename {
  const to = replacement.path;
  if (pattern.prefix === '') {
    if (to.length === 0 && pattern.exact.length === 0) return { kind: 'keep' };
    return { kind: 'move', to, from: pattern.exact.length };
  }
  if (to.length === 0) return { kind: 'move', to, from: pattern.exact.length + 1 };
  return { kind: 'replace', to: replacement.dotted ? [...to, ''] : to };
}

export interface Replacement {
  readonly path: readonly string[];
  readonly dotted: boolean;
}

/** True when the pattern matches every column and keeps its name. */
export function isWholeRow(pattern: WildcardPattern): boolean {
  return (
    pattern.exact.length === 0 &&
    pattern.prefix === '' &&
    pattern.excluding.length === 0 &&
    pattern.rename.kind === 'keep'
  );
}

/**
 * What a column is called behind a wildcard; undefined when it is left out, and `below` when only
 * columns below it may match or be left out.
 */
export function renamedPath(
  pattern: WildcardPattern,
  path: readonly string[],
): readonly string[] | 'below' | undefined {
  const { exact, prefix, excluding, rename } = pattern;
  const shared = Math.min(path.length, exact.length);
  for (let i = 0; i < shared; i++) if (path[i] !== exact[i]) return undefined;
  if (path.length <= exact.length) return 'below';
  if (!(path[exact.length] as string).startsWith(prefix)) return undefined;
  if (excluding.some((exclusion) => excludes(exclusion, path))) return undefined;
  switch (rename.kind) {
    case 'keep':
      return path;
    case 'move': {
      const moved = [...rename.to, ...path.slice(rename.from)];
      return moved.length > 0 ? moved : 'below';
    }
    case 'replace': {
      const rest = (path[exact.length] as string).slice(prefix.length);
      const last = (rename.to[rename.to.length - 1] as string) + rest;
      const start = last === '' ? rename.to.slice(0, -1) : [...rename.to.slice(0, -1), last];
      return [...start, ...path.slice(exact.length + 1)];
    }
  }
}

function excludes(exclusion: PatternExclusion, path: readonly string[]): boolean {
  if (exclusion.kind === 'column') {
    return (
      exclusion.path.length === path.length &&
      exclusion.path.every((element, i) => element === path[i])
    );
  }
  const { exact, prefix } = exclusion.star;
  if (path.length <= exact.length) return false;
  if (!exact.every((element, i) => element === path[i])) return false;
  return (path[exact.length] as string).startsWith(prefix);
}
