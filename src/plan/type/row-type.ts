// The type of a row made by a select list or a row literal.
import { compareElements } from '../../value/natural-order.ts';
import type { ProjectItem } from '../expression.ts';
import { ANY_TYPE, commonType, type RowMember, type ValueType } from './type.ts';

/** Members whose names are known; open when a wildcard or a value of unknown members adds to them. */
export function rowTypeOf(items: readonly ProjectItem[]): ValueType {
  const members = new Map<string, ValueType>();
  let open = false;
  let listed: RowMember[] | undefined = [];
  const add = (name: string, type: ValueType) => {
    const known = members.get(name);
    members.set(name, known === undefined ? type : commonType(known, type));
  };
  for (const item of items) {
    if (item.kind === 'named') {
      addNested(item.path, item.expression.type, add);
    } else if (item.kind === 'spread' && item.expression.type.kind === 'row') {
      for (const member of item.expression.type.members) add(member.name, member.type);
      open ||= item.expression.type.open;
      if (item.expression.type.open) listed = listedWith(listed, item.expression.type.listed);
    } else {
      open = true;
      listed = listedWith(listed, item.kind === 'wildcard' ? item.listed : undefined);
    }
  }
  const sorted = [...members].sort((a, b) => compareElements(a[0], b[0]));
  const known = sorted.map(([name, type]) => ({ name, type }));
  if (!open || listed === undefined) return { kind: 'row', members: known, open };
  return {
    kind: 'row',
    members: known,
    open,
    listed: listed.filter(({ name }) => !members.has(name)),
  };
}

function listedWith(
  known: readonly RowMember[] | undefined,
  more: readonly RowMember[] | undefined,
): RowMember[] | undefined {
  return known === undefined || more === undefined ? undefined : [...known, ...more];
}

/** `AS a.b` adds a row `a`; what else it has is settled where types meet. */
function addNested(
  path: readonly string[],
  type: ValueType,
  add: (name: string, type: ValueType) => void,
): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    add(name, type);
    return;
  }
  let nested: ValueType = type;
  for (const element of rest.reverse()) {
    nested = { kind: 'row', members: [{ name: element, type: nested }], open: false };
  }
  add(name, nested.kind === 'row' ? nested : ANY_TYPE);
}
