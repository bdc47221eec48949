// The expressions of groups, put into a table.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall } from '../../../plan/plan.ts';
import { textOfExpression } from '../../../plan/text-of-expression.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { tableColumn } from '../outputs.ts';
import type { Output, Pipeline } from '../pipeline.ts';

interface GroupExpressions {
  readonly keys: readonly BoundExpression[];
  readonly aggregates: readonly AggregateCall[];
}

interface NamedExpressions extends GroupExpressions {
  readonly outputs: readonly Output[];
}

interface StoredExpressions extends GroupExpressions {
  readonly table: Pipeline;
}

/** The same keys and calls about a table of their values. @throws NotSuited */
export function storeExpressions(
  expressions: GroupExpressions,
  pipeline: Pipeline,
  context: OperatorContext,
): StoredExpressions {
  const { outputs, ...own } = nameExpressions(expressions);
  return { ...own, table: materialize(pipeline, outputs, context, { named: false }) };
}

/** The same keys and calls about a table of these outputs. */
export function nameExpressions({ keys, aggregates }: GroupExpressions): NamedExpressions {
  const outputs: Output[] = [];
  const names = new Map<string, string>();
  const stored = (expression: BoundExpression): BoundExpression => {
    if (expression.kind === 'constant') return expression;
    const text = textOfExpression(expression);
    let name = names.get(text);
    if (name === undefined) {
      name = `e${names.size}`;
      names.set(text, name);
      outputs.push({ path: [name], expression });
    }
    return { ...tableColumn([name]), type: expression.type };
  };
  const own = {
    keys: keys.map(stored),
    aggregates: aggregates.map((call) => mapCall(call, stored)),
  };
  return { ...own, outputs };
}

/** A call with other expressions in the places of its own. */
export function mapCall(
  call: AggregateCall,
  map: (expression: BoundExpression) => BoundExpression,
): AggregateCall {
  const { modifiers } = call;
  const args = call.args.map(map);
  if (modifiers === undefined) return { ...call, args };
  const { distinct, orderBy, filter } = modifiers;
  return {
    ...call,
    args,
    modifiers: {
      distinct,
      orderBy: orderBy.map((key) => ({ ...key, expression: map(key.expression) })),
      filter: filter && map(filter),
    },
  };
}
