// Texts in SQL of ClickHouse, and values that come from it.
import { expect, test } from 'vitest';
import {
  escapeField,
  numberLiteral,
  QueryTexts,
  quoteName,
  quoteText,
  withLiterals,
  withMovedTexts,
} from '../../../../src/remote/clickhouse/clickhouse-text.ts';
import { parseType, readField } from '../../../../src/remote/clickhouse/clickhouse-value.ts';

test('texts stand in SQL as literals, wherever they may look like its end', () => {
  expect(quoteText("a'b\\c\nd")).toBe("'a\\'b\\\\c\\nd'");
  expect(quoteName('a`b\\')).toBe('`a\\`b\\\\`');
  expect(escapeField('a\tb\\N')).toBe('a\\tb\\\\N');
  const sql = "SELECT {p0:String}, '{p1:String}', `{p1:String}`, 'it\\'s {p0:String}', {p1:String}";
  expect(withLiterals({ sql, texts: ["x'", '{p0:String}'] })).toBe(
    "SELECT 'x\\'', '{p1:String}', `{p1:String}`, 'it\\'s {p0:String}', '{p0:String}'",
  );
  expect([0.1, -0, 1e21, Number.NaN, Number.NEGATIVE_INFINITY, 5e-324].map(numberLiteral)).toEqual([
    '0.1',
    '0',
    '1e+21',
    'nan',
    '-inf',
    undefined,
  ]);
});

test('texts of one query become texts of another one, wherever their places stand', () => {
  const texts = new QueryTexts(['kept', 'shared']);
  const sql = "`{p0:String}` = '{p1:String}' OR s IN ({p0:String}, {p1:String})";
  const moved = withMovedTexts(sql, ['shared', "it's {p0:String}"], texts);
  expect(moved).toBe("`{p0:String}` = '{p1:String}' OR s IN ({p1:String}, {p2:String})");
  expect(texts.all).toEqual(['kept', 'shared', "it's {p0:String}"]);
  expect(withLiterals({ sql: moved, texts: texts.all })).toContain(
    "s IN ('shared', 'it\\'s {p0:String}')",
  );
});

test('types are read, whatever wraps them', () => {
  expect(parseType('LowCardinality(Nullable(String))')).toEqual({
    type: { kind: 'string' },
    isNullable: true,
  });
  const cells = (type: string, field: string) => {
    const found: unknown[] = [];
    readField(['x'], parseType(type), field, (path, atom) => found.push([path.join('.'), atom]));
    return found;
  };
  expect(cells('Map(String, Array(UInt8))', "{'a,b':[1,2],'c':[]}")).toEqual([
    ['x.a,b.0', 1],
    ['x.a,b.1', 2],
  ]);
  expect(cells("Tuple(`p q` Enum8('a)' = 1, 'b' = 2), Nullable(Float64))", "('a)',NULL)")).toEqual([
    ['x.p q', 'a)'],
    ['x.1', null],
  ]);
  expect(cells('Int128', '12345678901234567890123')).toEqual([['x', '12345678901234567890123']]);
  expect(cells('Decimal(9, 2)', '1.25')).toEqual([['x', 1.25]]);
  expect(cells('Bool', 'true')).toEqual([['x', 1]]);
});
