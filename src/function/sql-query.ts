import { Type } from 'typebox';
import { queryTextOf } from '../dataset/parameter.ts';
import { ANY_PARAMETERS, type PreparedQuery, prepareQuery, readQuery } from '../exec/query.ts';
import type { RelationRow } from '../plan/namespace.ts';
import { ANY_TYPE, OPEN_ROW_TYPE, type ValueType } from '../plan/type/type.ts';
import { choice, inputQuery } from '../schema/declare.ts';
import { printSql } from '../sql/printer.ts';
import { findParameters } from '../sql/walk.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { atomText } from '../value/text.ts';
import { NULL_VALUE, Row, Scalar, sortedRow, type Value } from '../value/value.ts';
import { functionType } from './function-type.ts';

/** A query with parameters as a function. */
export const sqlQuery = functionType({
  name: 'sql.query',
  summary: 'A SELECT statement as a function: its inputs are the parameters `$name` of the query.',
  parameters: Type.Object({
    query: inputQuery({ description: 'SELECT statement; `$name` stands for the input `name`' }),
    output: choice(['FIRST_ROW', 'NAMED_COLUMNS'], {
      description:
        'FIRST_ROW: the first row is the output; NAMED_COLUMNS: rows of `column` and `value` make one row',
      default: 'FIRST_ROW',
    }),
  }),
  binding: () => 'use',
  check(params) {
    readQuery(queryTextOf(params.query));
  },
  compile(params, { namespace, callScope, executor }) {
    const text = queryTextOf(params.query);
    const names = parameterNames(text);
    const prepare = () =>
      prepareQuery(text, {
        namespace,
        scope: callScope,
        executor,
        parameters: ANY_PARAMETERS,
      });
    // A prepared query has one run at a time; a function that reaches itself needs another.
    const idle: PreparedQuery[] = [prepare()];
    const rowType = (idle[0] as PreparedQuery).rowType;
    const read = params.output === 'NAMED_COLUMNS' ? namedColumns : firstRow;
    return {
      input: names.length === 0 ? [] : [inputType(names)],
      output: params.output === 'NAMED_COLUMNS' ? NAMED_COLUMNS_TYPE : rowType,
      takesAnyValue: false,
      isLight: false,
      apply(input) {
        const query = idle.pop() ?? prepare();
        try {
          return read(query.run(parametersOf(input)));
        } finally {
          idle.push(query);
        }
      },
    };
  },
  status(params) {
    const query = readQuery(queryTextOf(params.query));
    return { expression: { query: { surface: query.text, ast: printSql(query) } } };
  },
});

const NAMED_COLUMNS_TYPE: ValueType = {
  kind: 'row',
  members: [{ name: 'output', type: OPEN_ROW_TYPE }],
  open: false,
};

function parameterNames(text: ReturnType<typeof queryTextOf>): string[] {
  return [...new Set(findParameters(readQuery(text)).map(({ name }) => name))];
}

function inputType(names: readonly string[]): ValueType {
  return { kind: 'row', members: names.map((name) => ({ name, type: ANY_TYPE })), open: false };
}

function parametersOf(input: Value): ReadonlyMap<string, Value> {
  const values = new Map<string, Value>();
  if (!(input instanceof Row)) return values;
  for (const [index, name] of input.names.entries()) {
    values.set(name, input.values[index] as Value);
  }
  return values;
}

function firstRow(rows: Iterable<RelationRow>): Value {
  for (const { row } of rows) return row;
  return NULL_VALUE;
}

function namedColumns(rows: Iterable<RelationRow>): Value {
  const names: string[] = [];
  const values: Value[] = [];
  for (const { row } of rows) {
    checkNamedColumn(row);
    names.push(columnName(row.all('column')[0] as Value));
    values.push(row.all('value')[0] as Value);
  }
  return new Row(['output'], [sortedRow(names, values)]);
}

function checkNamedColumn(row: Row): void {
  const other = row.names.find((name) => name !== 'column' && name !== 'value');
  if (other !== undefined) {
    throw failure(
      'SQL_EXECUTION',
      `Rows returned from NAMED_COLUMNS SQL query can only contain 'column' and 'value' columns; got '${other}'`,
    );
  }
  if (row.all('column').length === 1 && row.all('value').length === 1) return;
  throw failure(
    'SQL_EXECUTION',
    "Rows returned from NAMED_COLUMNS SQL query must contain exactly one 'column' and one 'value' column",
  );
}

/** The name is one path element. */
function columnName(value: Value): string {
  const atom = value instanceof Scalar ? value.atom : null;
  if (atom === null) {
    throw failure('SQL_EXECUTION', "Column names in NAMED_COLUMNS SQL can't be null");
  }
  return atom instanceof Path ? atom.toText() : atomText(atom);
}
