// New names for the columns of a table or query, by position: `AS t(a, b)`.
import type { Span } from '../../sql/node.ts';
import { isClosed } from '../column-order.ts';
import { bindingError } from '../error.ts';
import type { ProjectItem } from '../expression.ts';
import type { PlanNode } from '../plan.ts';
import { rowTypeOf } from '../type/row-type.ts';
import { ANY_TYPE, typeAtPath } from '../type/type.ts';
import type { BindContext, BoundQuery } from './context.ts';

/** The same rows with the first columns renamed. */
export function renameColumns(
  query: BoundQuery,
  names: readonly string[],
  span: Span,
  context: BindContext,
): BoundQuery {
  const { paths } = query.order;
  const { start, end } = span;
  if (!isClosed(query.order)) {
    const message = `the columns cannot be renamed by position, since they are not known: name them in the select list`;
    throw bindingError(context.text, span, message);
  }
  if (names.length > paths.length) {
    const message = `${names.length} column names for ${paths.length} columns`;
    throw bindingError(context.text, span, message);
  }
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw bindingError(context.text, span, `column name '${repeated}' stands twice`);
  }
  const items = paths.map((path, index): Extract<ProjectItem, { kind: 'named' }> => {
    const name = names[index];
    const type = typeAtPath(query.rowType, path) ?? ANY_TYPE;
    return {
      kind: 'named',
      path: name === undefined ? path : [name],
      expression: { kind: 'column', path, type, start, end },
      start,
      end,
    };
  });
  const node: PlanNode = {
    kind: 'project',
    input: query.node,
    items,
    name: undefined,
    keepsInput: false,
  };
  const order = { paths: items.map((item) => item.path), rest: undefined };
  return { node, rowType: rowTypeOf(items), order };
}
