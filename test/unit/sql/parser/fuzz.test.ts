// Whatever the text, the parser returns a tree or throws an error that points into it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SqlSyntaxError } from '../../../../src/sql/error.ts';
import { KEYWORDS } from '../../../../src/sql/keyword.ts';
import {
  parseExpression,
  parseGroupBy,
  parseOrderBy,
  parseQuery,
  parseSelectList,
  parseTableExpression,
} from '../../../../src/sql/parser/parser.ts';
import { printSql } from '../../../../src/sql/printer.ts';
import { arbitraryQuery } from '../arbitrary-tree.ts';

const ENTRY_POINTS = [
  parseQuery,
  parseExpression,
  parseSelectList,
  parseTableExpression,
  parseOrderBy,
  parseGroupBy,
];

function expectTreeOrError(text: string): void {
  for (const parse of ENTRY_POINTS) {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof SqlSyntaxError)) throw error;
      expect(error.offset).toBeGreaterThanOrEqual(0);
      expect(error.offset).toBeLessThanOrEqual(text.length);
      const lines = text.split('\n');
      expect(error.line).toBeLessThanOrEqual(lines.length);
      const lineLength = [...(lines[error.line - 1] as string)].length;
      expect(error.column).toBeGreaterThanOrEqual(1);
      expect(error.column).toBeLessThanOrEqual(lineLength + 1);
    }
  }
}

const SYMBOLS =
  '( ) [ ] { } , : . .* + - * / % @ & | ^ ~ = != <> < <= > >= ! ; == || $ \' " -- /* */'
    .split(' ')
    .concat('\n', ' ');
const OPERANDS = ['x', 'y.z', '"q"', '1', '1.5', "'s'", '$p', 'f(', 'count(*)', 'x*', '1e3', 'é'];
const piece = fc.constantFrom(...KEYWORDS, ...SYMBOLS, ...OPERANDS);

describe('any text gives a tree or an error', () => {
  test('of random characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 40 }), expectTreeOrError), {
      numRuns: 2_000,
    });
  });

  test('of random bytes read as Latin-1', () => {
    const bytes = fc.uint8Array({ maxLength: 60 });
    fc.assert(
      fc.property(bytes, (given) => expectTreeOrError(Buffer.from(given).toString('latin1'))),
      { numRuns: 2_000 },
    );
  });

  test('of random tokens', () => {
    const soup = fc.array(piece, { maxLength: 25 });
    fc.assert(
      fc.property(soup, fc.constantFrom('', ' '), fc.boolean(), (pieces, glue, select) =>
        expectTreeOrError((select ? 'SELECT ' : '') + pieces.join(glue)),
      ),
      { numRuns: 4_000 },
    );
  });

  test('of queries with a piece replaced', () => {
    const change = fc.record({ place: fc.nat(), length: fc.nat({ max: 5 }), piece });
    fc.assert(
      fc.property(arbitraryQuery, change, (tree, { place, length, piece: inserted }) => {
        const text = printSql(tree);
        const start = place % (text.length + 1);
        expectTreeOrError(text.slice(0, start) + inserted + text.slice(start + length));
      }),
      { numRuns: 800 },
    );
  });
});
