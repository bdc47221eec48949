// Names for columns that are matched by position: two of one name would be one column.
import { outputName, type QueryNode, type SelectItem } from '../sql/node.ts';

/**
 * The query with other names for those columns whose automatic names stand for another one before
 * them: `SELECT 1, 1` gets `1` and `1_1`.
 */
export function withUniqueNames(query: QueryNode): QueryNode {
  if (query.kind !== 'query') return query;
  const taken = new Set<string>();
  let changed = false;
  const select = query.select.map((item): SelectItem => {
    if (item.kind !== 'named-expression') return item;
    const path = outputName(item);
    if (path === '*') return item;
    const key = JSON.stringify(path);
    if (!taken.has(key) || item.name !== undefined) {
      taken.add(key);
      return item;
    }
    changed = true;
    const last = path[path.length - 1] as string;
    for (let count = 1; ; count++) {
      const name = [...path.slice(0, -1), `${last}_${count}`];
      if (taken.has(JSON.stringify(name))) continue;
      taken.add(JSON.stringify(name));
      return { ...item, name };
    }
  });
  return changed ? { ...query, select } : query;
}
