import { type Static, Type } from 'typebox';
import { compileSelect, type PreparedSelect } from '../exec/prepared-row.ts';
import type { FunctionNamespace } from '../plan/function.ts';
import { ANY_TYPE, OPEN_ROW_TYPE, type ValueType } from '../plan/type/type.ts';
import { parseSelectList } from '../sql/parser/parser.ts';
import { printSql } from '../sql/printer.ts';
import { failure } from '../util/error.ts';
import { atomToJsonText, previewJson } from '../value/json.ts';
import { embeddingAsRow, Row, Scalar, type Value } from '../value/value.ts';
import { type CompiledFunction, functionType } from './function-type.ts';
import { areLightItems } from './light-expression.ts';
import { plainCallsOf } from './plain-call.ts';

const PARAMETERS = Type.Object({
  expression: Type.String({ description: 'SELECT list, for example `x + y AS z, *`' }),
  prepared: Type.Boolean({
    description: 'bind once, when the function is created, for inputs of any type',
    default: false,
  }),
  raw: Type.Boolean({
    description: 'the value of the only clause is the output, instead of a row',
    default: false,
  }),
  autoInput: Type.Boolean({
    description: 'the argument is the value of the only variable, instead of a row',
    default: false,
  }),
});

type SqlExpressionParams = Static<typeof PARAMETERS>;

/** A SELECT list as a function of its columns. */
export const sqlExpression = functionType({
  name: 'sql.expression',
  summary: 'A SELECT list as a function: the columns that it reads are its inputs.',
  parameters: PARAMETERS,
  binding: (params) => (params.prepared ? 'creation' : 'use'),
  check(params) {
    parseSelectList(params.expression);
  },
  compile(params, { namespace, callScope }) {
    const select = compileSelect(params.expression, { namespace, scope: callScope });
    checkShape(select, params);
    return compiledFunction(select, params, namespace.builtins);
  },
  status(params) {
    const surface = params.expression;
    return { expression: { surface, ast: parseSelectList(surface).map(printSql).join(', ') } };
  },
});

function compiledFunction(
  select: PreparedSelect,
  params: SqlExpressionParams,
  builtins: FunctionNamespace,
): CompiledFunction {
  const { raw, autoInput } = params;
  const [only] = select.items;
  const readsNothing = select.variables.length === 0 && !select.readsAll;
  const variable = select.variables[0] as string;
  return {
    input: readsNothing ? [] : [autoInput ? ANY_TYPE : inputType(select)],
    output: raw && only?.kind === 'named' ? only.expression.type : select.outputType,
    takesAnyValue: autoInput,
    isLight: areLightItems(select.items, params.expression, builtins),
    plainCalls: plainCallsOf(select, { raw, autoInput, builtins }),
    apply(input, scope) {
      const row = autoInput ? new Row([variable], [input]) : rowOf(input);
      return raw ? select.applyValue(row, { scope }) : select.apply(row, { scope });
    },
  };
}

function inputType(select: PreparedSelect): ValueType {
  if (select.readsAll) return OPEN_ROW_TYPE;
  const members = select.variables.map((name) => ({ name, type: ANY_TYPE }));
  return { kind: 'row', members, open: false };
}

function rowOf(input: Value): Row {
  if (input instanceof Row) return input;
  if (input instanceof Scalar) {
    if (input.atom === null) return new Row([], []);
    throw failure(
      'SQL_EXECUTION',
      `the argument of a function must be a row of its inputs; got ${previewJson(JSON.parse(atomToJsonText(input.atom)))}`,
    );
  }
  return embeddingAsRow(input);
}

function checkShape(select: PreparedSelect, { expression, raw, autoInput }: SqlExpressionParams) {
  const { items, variables } = select;
  if (raw && items.length !== 1) {
    throw failure(
      'INVALID_PARAMETER',
      `An sql.expression function with raw=true must have a single clause in the select; there were ${items.length} in the passed expression ${expression}`,
    );
  }
  if (raw && items[0]?.kind !== 'named') {
    throw failure(
      'INVALID_PARAMETER',
      `An sql.expression function with raw=true must have a single statement in the select; ${expression} is no single named expression`,
    );
  }
  if (autoInput && (variables.length !== 1 || select.readsAll)) {
    throw failure(
      'INVALID_PARAMETER',
      `An sql.expression function with autoInput=true must have a single variable in the expression; ${expression} had ${variables.length} variables (${variables.join(', ')}).`,
    );
  }
}
