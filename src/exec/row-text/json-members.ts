// The members of a JSON line: objects and arrays along the paths of columns.
import { JSON_NODE_KIND } from '../../kernel/generated.ts';
import { comparePaths, type Path } from '../../value/path.ts';

/** A value, or what values lie in; they stand in the order of the text. */
export interface JsonMember {
  readonly kind: (typeof JSON_NODE_KIND)[keyof typeof JSON_NODE_KIND];
  /** number of the column of a value */
  readonly column: number;
  /** with its colon; empty at the top */
  readonly name: string;
  /** the number behind its last member */
  readonly end: number;
  /** which element of an array it is, -1 when it can be none */
  readonly element: number;
}

export interface NamedColumn {
  readonly path: Path;
  readonly column: number;
}

const ELEMENT_NAME = /^(?:0|[1-9][0-9]{0,8})$/;

/**
 * @param first a member before all others
 * @returns undefined where two columns have one name, or one lies below another
 */
export function structuredMembers(
  columns: readonly NamedColumn[],
  first?: { readonly name: string; readonly column: number },
): JsonMember[] | undefined {
  const sorted = columns.toSorted((a, b) => comparePaths(a.path, b.path));
  for (let i = 1; i < sorted.length; i++) {
    if ((sorted[i] as NamedColumn).path.startsWith((sorted[i - 1] as NamedColumn).path)) {
      return undefined;
    }
  }
  if (first !== undefined && columns.some(({ path }) => path.elements[0] === first.name)) {
    return undefined;
  }
  const members = membersBelow(sorted, 0);
  if (first !== undefined) members.unshift(valueMember(first));
  return asMembers(members);
}

/** Each column is a member under the text of its path. @returns undefined where names repeat */
export function flatMembers(
  columns: readonly NamedColumn[],
  first?: { readonly name: string; readonly column: number },
): JsonMember[] | undefined {
  const sorted = columns.toSorted((a, b) => comparePaths(a.path, b.path));
  const named = sorted.map(({ path, column }) => ({ name: path.toString(), column }));
  if (first !== undefined) named.unshift(first);
  if (new Set(named.map(({ name }) => name)).size < named.length) return undefined;
  return asMembers(named.map(valueMember));
}

/** A member, and how many there are with those below it. */
type Draft = Omit<JsonMember, 'end'> & { readonly count: number };

/** The members below the object of the line. */
function asMembers(drafts: readonly Draft[]): JsonMember[] {
  const line = { kind: JSON_NODE_KIND.object, column: 0, name: '', element: -1 } as const;
  return [{ ...line, count: drafts.length + 1 }, ...drafts].map(({ count, ...member }, index) => {
    return { ...member, end: index + count };
  });
}

function valueMember({ name, column }: { readonly name: string; readonly column: number }): Draft {
  return {
    kind: JSON_NODE_KIND.value,
    column,
    name: `${JSON.stringify(name)}:`,
    element: ELEMENT_NAME.test(name) ? Number(name) : -1,
    count: 1,
  };
}

/** @param columns in natural order, alike in their first `depth` elements */
function membersBelow(columns: readonly NamedColumn[], depth: number): Draft[] {
  const members: Draft[] = [];
  for (let from = 0; from < columns.length; ) {
    const { path, column } = columns[from] as NamedColumn;
    const name = path.elements[depth] as string;
    let to = from + 1;
    while (to < columns.length && (columns[to] as NamedColumn).path.elements[depth] === name) to++;
    if (path.length === depth + 1) members.push(valueMember({ name, column }));
    else {
      const inner = columns.slice(from, to);
      const below = membersBelow(inner, depth + 1);
      const isArray = inner.some((each) => each.path.elements[depth + 1] === '0');
      const kind = isArray ? JSON_NODE_KIND.array : JSON_NODE_KIND.object;
      const own = valueMember({ name, column: 0 });
      members.push({ ...own, kind, count: below.length + 1 }, ...below);
    }
    from = to;
  }
  return members;
}
