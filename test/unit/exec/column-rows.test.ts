// Rows in columns read as the rows that they stand for, in every format.
import { expect, test } from 'vitest';
import { ColumnRows } from '../../../src/exec/column-rows.ts';
import { contentTypeOf, type FormatName, writeRows } from '../../../src/exec/output/format.ts';
import { DEFAULT_OUTPUT, type OutputOptions } from '../../../src/exec/output/options.ts';
import type { RelationRow } from '../../../src/plan/namespace.ts';
import type { Atom } from '../../../src/value/atom.ts';
import { Path } from '../../../src/value/path.ts';
import { Timestamp } from '../../../src/value/timestamp.ts';

const ATOMS: readonly Atom[] = [null, 'a "quoted", text', 'b'];
const TIMES: readonly Atom[] = [new Timestamp(0), null, new Timestamp(1.5), 7, ''];

const rows = new ColumnRows(
  5,
  [
    {
      path: Path.of('a.b'),
      values: {
        kind: 'codes',
        codeAt: (index) => [1, 0, 2, 1, 2][index] as number,
        atom: (code) => ATOMS[code] as Atom,
      },
      tsAt: () => 1,
    },
    {
      path: Path.of('n'),
      values: {
        kind: 'numbers',
        numberAt: (index) => [0, -0, 2 ** 53 + 2, Number.NaN, -1.5][index] as number,
        isNull: () => false,
      },
      tsAt: () => 2,
    },
    {
      path: Path.of('w'),
      values: { kind: 'atoms', atomAt: (index) => TIMES[index] as Atom },
      tsAt: (index) => index,
    },
  ],
  (index) => new Path(['row', String(index)]),
);

function textOf(relation: Iterable<RelationRow>, format: FormatName, options: OutputOptions) {
  const parts: Uint8Array[] = [];
  writeRows(relation, format, options, (bytes) => parts.push(Uint8Array.from(bytes)));
  return Buffer.concat(parts).toString(format === 'arrow' ? 'hex' : 'utf8');
}

test.each(['full', 'table', 'aos', 'soa', 'sparse', 'csv', 'ndjson'] as const)(
  '%s has the same text as for plain rows',
  (format) => {
    expect(contentTypeOf(format)).toBeTruthy();
    for (const headers of [true, false]) {
      for (const rowNames of [true, false]) {
        for (const sortColumns of [true, false]) {
          const options = {
            ...DEFAULT_OUTPUT,
            headers,
            rowNames,
            sortColumns,
            rowHashes: rowNames,
          };
          expect(textOf(rows, format, options)).toBe(textOf([...rows], format, options));
        }
      }
    }
  },
);

test('no rows have no header', () => {
  const none = new ColumnRows(0, rows.columns, rows.nameAt);
  const options = { ...DEFAULT_OUTPUT, knownColumns: none.printedNames };
  expect(textOf(none, 'table', options)).toBe(textOf([], 'table', options));
});
