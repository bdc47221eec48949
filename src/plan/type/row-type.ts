// The type of a row made by a select list or a row literal.
import { compareElements } from '../../value/natural-order.ts';
import type { ProjectItem } from '../expression.ts';
import { ANY_TYPE, commonType, type ValueType } from './type.ts';

/** Members whose names are known; open when a wildcard or a value of unknown members adds to them. */
export function rowTypeOf(items: readonly ProjectItem[]): ValueType {
  const members = new Map<string, ValueType>();
  let open = false;
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
    } else {
      open = true;
    }
  }
  const sorted = [...members].sort((a, b) => compareElements(a[0], b[0]));
  return { kind: 'row', members: sorted.map(([name, type]) => ({ name, type })), open };
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
