// Every query of the conformance cases: read, or refused in a case that expects to be refused.
import { expect, test } from 'vitest';
import { equalNodes } from '../../../../src/sql/equal.ts';
import { SqlSyntaxError } from '../../../../src/sql/error.ts';
import { parseQuery } from '../../../../src/sql/parser/parser.ts';
import { readStatement } from '../../../../src/sql/parser/statement.ts';
import { printSql } from '../../../../src/sql/printer.ts';
import { readCaseFiles } from '../../../conformance/cases.ts';

test('only cases that expect a failure fail to parse', () => {
  let queryCount = 0;
  for (const { cases } of readCaseFiles()) {
    for (const { name, request, status } of cases) {
      const text = (request[2] as { q?: unknown } | null)?.q;
      if (typeof text !== 'string') continue;
      // Statements for looking around are no queries.
      if (readStatement(text).kind !== 'query') continue;
      queryCount++;
      try {
        const query = parseQuery(text);
        expect(equalNodes(parseQuery(printSql(query)), query), `${name} reads back`).toBe(true);
      } catch (error) {
        expect(error, name).toBeInstanceOf(SqlSyntaxError);
        expect(String(status), `${name}: ${error}`).toMatch(/^4/);
      }
    }
  }
  expect(queryCount).toBeGreaterThan(1_000);
});
