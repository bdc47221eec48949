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
 * How the matched leading text is replaced. `keep`: names stay as they are from element `from` on
 * (a dropped alias or table name); `replace`: the elements `exact` and the matched start of the
 * next one become `by` and, when `join`, the rest of that element continues the last of `by`.
 */
export type PatternRename =
  | { readonly kind: 'keep' }
  | { readonly kind: 'replace'; readonly by: readonly string[]; readonly join: boolean };

export interface WildcardPattern extends StarPattern {
  readonly excluding: readonly PatternExclusion[];
  readonly rename: PatternRename;
}
