import { describe, expect, test } from 'vitest';
import { Random } from '../../../../src/learn/random.ts';
import { rowEmbedder, svdFromJson, svdToJson } from '../../../../src/learn/svd/model.ts';
import { fitSvd, type SvdFit, type SvdOptions } from '../../../../src/learn/svd/svd.ts';
import type { CellColumn } from '../../../../src/learn/svd/virtual-column.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { reversedContext, testContext } from '../support.ts';

const context = testContext();
const DEFAULTS: SvdOptions = { numSingularValues: 100, numDenseBasisVectors: 2000 };

function columnsOf(rows: readonly Readonly<Record<string, Atom>>[]): CellColumn[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return names.map((name) => {
    const having = [...rows.keys()].filter((row) => Object.hasOwn(rows[row] as object, name));
    return { name, rows: having, atoms: having.map((row) => rows[row]?.[name] as Atom) };
  });
}

function fit(
  rows: readonly Readonly<Record<string, Atom>>[],
  options: Partial<SvdOptions> = {},
  runIn = context,
): SvdFit {
  return fitSvd(runIn, columnsOf(rows), rows.length, { ...DEFAULTS, ...options });
}

/** Documents of words, most of them rare. */
function documents(count: number, wordCount: number): Record<string, Atom>[] {
  const random = Random.of(7);
  return Array.from({ length: count }, () =>
    Object.fromEntries(
      Array.from({ length: 12 }, () => [
        `w${Math.floor(random.uniform() ** 2 * wordCount)}`,
        1 + random.below(3),
      ]),
    ),
  );
}

describe('the decomposition', () => {
  test('of two correlated columns has the singular values of the correlation', () => {
    const rows = [1, 1, 1, 1, -1, -1, -1, -1].map((x) => ({ x, y: x }));
    const { singularValues } = fit([...rows, { x: 1, y: -1 }, { x: -1, y: 1 }]);
    expect(singularValues[0]).toBeCloseTo(Math.sqrt(1.6), 12);
    expect(singularValues[1]).toBeCloseTo(Math.sqrt(0.4), 12);
  });

  test('keeps as many directions as there are', () => {
    const rows = [1, 2, 3, 4].map((x) => ({ x, y: 3 * x, z: -x }));
    expect(fit(rows).singularValues).toHaveLength(1);
  });

  test('makes one column of numbers, and one for each value of anything else', () => {
    const { columns } = fit([
      { n: 1, t: 'a', k: 5 },
      { n: 2, t: null, k: 5 },
      { n: null, t: 'a', k: 5 },
    ]);
    expect(columns.map(({ columnName, op, rowCount }) => [columnName, op, rowCount])).toEqual([
      ['n', 'VALUE', 2],
      ['k', 'EQUAL', 3],
      ['t', 'EQUAL', 2],
      ['t', 'EQUAL', 1],
    ]);
  });

  test('by Lanczos steps is that of the dense matrix', () => {
    const rows = documents(900, 700);
    const few = fit(rows, { numSingularValues: 20 });
    const dense = fit(rows, { numSingularValues: 400 });
    for (let d = 0; d < 20; d++) {
      expect(few.singularValues[d]).toBeCloseTo(dense.singularValues[d] as number, 9);
      const difference = few.columnVectors.map((vector, column) =>
        Math.abs((vector[d] as number) - (dense.columnVectors[column]?.[d] as number)),
      );
      expect(Math.max(...difference)).toBeLessThan(1e-6);
    }
  });

  test('projects columns behind the basis to where they would be in it', () => {
    const rows = documents(300, 60).map((row) => ({ ...row, twin: row.w0 ?? 0 }));
    const { columns, columnVectors } = fit(rows, { numDenseBasisVectors: columnsOf(rows).length });
    const part = fit(rows, { numDenseBasisVectors: 20 });
    expect(columnVectors).toHaveLength(columns.length);
    expect(part.columnVectors[30]?.some((value) => value !== 0)).toBe(true);
  });

  test('gives dimensions a mean square of 1 over the rows', () => {
    const { rowVectors, singularValues } = fit(documents(400, 50));
    for (let d = 0; d < singularValues.length; d++) {
      const squares = rowVectors.reduce((sum, vector) => sum + (vector[d] as number) ** 2, 0);
      expect(squares / rowVectors.length).toBeCloseTo(1, 8);
    }
  });

  test('is the same on any number of threads', () => {
    const rows = documents(5000, 400);
    const options = { numSingularValues: 10 };
    expect(fit(rows, options, reversedContext(context))).toEqual(fit(rows, options));
  });

  test('refuses infinite values', () => {
    expect(() => fit([{ x: 1 }, { x: Number.POSITIVE_INFINITY }])).toThrow('not a finite number');
  });
});

describe('a saved decomposition', () => {
  test('embeds a training row as training did', () => {
    const rows = documents(200, 30).map((row, i) => ({ ...row, kind: i % 3 ? 'odd' : 'even' }));
    const trained = fit(rows);
    const model = svdFromJson(JSON.parse(JSON.stringify(svdToJson(trained, '2020-01-01'))));
    const width = model.singularValues.length;
    const embedder = rowEmbedder(model, { width, acceptsUnknown: false });
    for (const [index, row] of rows.entries()) {
      for (const [name, atom] of Object.entries(row)) embedder.add(name, atom);
      for (const [d, value] of embedder.take().entries()) {
        expect(value).toBeCloseTo(trained.rowVectors[index]?.[d] as number, 8);
      }
    }
  });
});
