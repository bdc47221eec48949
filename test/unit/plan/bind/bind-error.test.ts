// Queries that parse but cannot be bound: the message, and the place in the text.
import { describe, expect, it } from 'vitest';
import { prepareQuery } from '../../../../src/exec/query.ts';
import { RowanError } from '../../../../src/util/error.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';
import { namespaceOf, rowsOf } from '../../../support/query.ts';

const namespace = namespaceOf({ d: rowsOf({ r: { x: 1 } }), e: rowsOf({ r: { x: 1 } }) });

function errorOf(sql: string): RowanError {
  try {
    prepareQuery(sql, { namespace, scope: NO_CONTEXT });
  } catch (error) {
    if (error instanceof RowanError) return error;
    throw error;
  }
  throw new Error(`bound without error: ${sql}`);
}

const CASES: readonly [sql: string, message: string, place: [line: number, column: number]][] = [
  ['SELECT a.b', 'Cannot read column "a.b" with no FROM clause.', [1, 8]],
  ['SELECT *', 'Wildcard usage requires a FROM statement', [1, 8]],
  ['SELECT {*}', 'Cannot use wildcards with no FROM clause.', [1, 9]],
  ['SELECT 1 GROUP BY 2', 'GROUP BY usage requires a FROM statement', [1, 19]],
  ['SELECT 1 HAVING 1 = 2', 'HAVING usage requires a FROM statement', [1, 17]],
  ['SELECT $p', 'parameter $p is not bound: a plain query has no parameters', [1, 8]],
  ['SELECT {a: 1}[b]', "Couldn't find column 'b' in extract", [1, 15]],
  ['SELECT 1 AS *', 'Expression with AS * must return a row', [1, 8]],
  [
    'SELECT uper(1)',
    "Unable to find function 'uper' binding function call 'uper(1)'. The function is not a built-in function, and either it's not a registered user function, or user functions are not available in the scope of the expression. Did you mean 'upper'?",
    [1, 8],
  ],
  ['SELECT upper(1, 2)', 'Binding builtin function upper: expected 1 argument, got 2', [1, 8]],
  ['SELECT try()', 'Binding builtin function try: requires one or two arguments, got 0', [1, 8]],
  [
    'SELECT x,\n nofn(x) FROM d',
    "Binding error: Unable to find function 'nofn' binding function call 'nofn(x)'. The function is not a built-in function, and either it's not a registered user function, or user functions are not available in the scope of the expression.",
    [2, 2],
  ],
  [
    'SELECT x FROM d HAVING x = 1',
    'Binding error: HAVING expression requires a GROUP BY expression',
    [1, 24],
  ],
  [
    'SELECT x FROM d GROUP BY x HAVING count(*)',
    'Binding error: HAVING must be a boolean expression',
    [1, 35],
  ],
  [
    'SELECT y FROM d GROUP BY x',
    "Binding error: variable 'y' must appear in the GROUP BY clause or be used in an aggregate function",
    [1, 8],
  ],
  ['SELECT * FROM d GROUP BY x', 'Binding error: Wildcard cannot be used with GROUP BY', [1, 8]],
  [
    'SELECT width({*}) AS w FROM d GROUP BY x',
    "Binding error: Non-aggregator 'width({*})' with GROUP BY clause is not allowed",
    [1, 15],
  ],
  [
    'SELECT count(*), width({*}) FROM d',
    "Binding error: Mixing non-aggregator 'width({*})' with aggregators is not allowed",
    [1, 25],
  ],
  ['SELECT sum(x, 1) FROM d', 'Binding error: function sum expected 1 argument, got 2', [1, 8]],
  [
    'SELECT sum(count(x)) FROM d',
    "Binding error: aggregate 'count(x)' stands inside 'sum(count(x))': aggregate in a sub-select first",
    [1, 12],
  ],
  [
    'SELECT x FROM d WHERE sum(x) > 1',
    "Binding error: Unable to find function 'sum' binding function call 'sum(x)'. Aggregates are only for SELECT, NAMED, HAVING and ORDER BY of a query with FROM, and not inside one another.",
    [1, 23],
  ],
  [
    'SELECT x FROM d ORDER BY count(*)',
    'Binding error: an aggregate in ORDER BY requires GROUP BY or an aggregate in the select list',
    [1, 26],
  ],
  [
    'SELECT leftRowName() FROM d',
    "Binding error: Function 'leftRowName' is not available outside of a join",
    [1, 8],
  ],
  [
    'SELECT COLUMN EXPR (WHERE x = 1) FROM d',
    "Binding error: Cannot read column 'x' inside COLUMN EXPR",
    [1, 27],
  ],
  [
    'SELECT COLUMN EXPR (ORDER BY value()) FROM d',
    'Binding error: value() in column expression without columns',
    [1, 30],
  ],
  [
    'SELECT COLUMN EXPR (SELECT nofn()) FROM d',
    'Binding error: Unknown function nofn in column expression',
    [1, 28],
  ],
  [
    'SELECT * FROM d JOIN d ON true',
    'Binding error: Join has ambiguous table name(s): d; give each table an alias of its own with AS',
    [1, 15],
  ],
  [
    'SELECT * FROM d JOIN e ON x = e.x',
    "Binding error: Column 'x' is ambiguous: d.x, e.x",
    [1, 27],
  ],
  [
    'SELECT DISTINCT ON (x, y) x FROM d ORDER BY x',
    'Binding error: DISTINCT ON expression cannot have more clauses than ORDER BY expression',
    [1, 24],
  ],
  [
    'SELECT DISTINCT ON (x) x FROM d ORDER BY y',
    'Binding error: DISTINCT ON expression must match leftmost(s) ORDER BY clause(s)',
    [1, 21],
  ],
  [
    'SELECT * FROM row_dataset(5)',
    'Binding error: Argument to row_dataset must be a row, not a scalar or NULL',
    [1, 27],
  ],
];

describe('binding', () => {
  it.each(CASES)('%s', (sql, message, [line, column]) => {
    const error = errorOf(sql);
    expect(error.message).toBe(message);
    expect(error.code).toBe('SQL_BINDING');
    expect(error.details).toMatchObject({ line, column });
  });

  it('shows the text at the place', () => {
    expect(errorOf('SELECT nofn(1, 2) + 3').details).toEqual({
      line: 1,
      column: 8,
      near: 'nofn(1, 2)',
    });
  });

  it('finds no unknown dataset', () => {
    const error = errorOf('SELECT * FROM nosuch');
    expect(error.message).toBe("dataset entry 'nosuch' doesn't exist");
    expect(error.httpCode).toBe(404);
  });

  it('refuses a chain that exhausts the stack', () => {
    const sql = `SELECT ${'('.repeat(10)}x${' IS NULL'.repeat(50_000)}${')'.repeat(10)} FROM d`;
    expect(errorOf(sql).message).toMatch(/nested too deeply/);
    expect(errorOf(`SELECT x${' + x'.repeat(5000)} FROM d`).message).toBe(
      'Binding error: a chain of 5000 operators is nested too deeply; at most 4000 are accepted',
    );
  });
});
