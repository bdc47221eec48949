import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type DistTables,
  distTablesFromJson,
  distTablesToJson,
  momentsOf,
  observe,
  STATISTICS,
  statisticOf,
} from '../../../../src/learn/table/dist-table.ts';
import {
  count,
  countsOf,
  type StatsTables,
  statsTablesFromJson,
  statsTablesToJson,
} from '../../../../src/learn/table/stats-table.ts';
import { frequenciesFromJson, frequenciesToJson, weighTerms } from '../../../../src/learn/tfidf.ts';

describe('statistics of outcomes', () => {
  test('are those of all values of a key', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 2 }),
        (values) => {
          const tables: DistTables = { mode: 'fixedColumns', outcomes: ['x'], columns: new Map() };
          for (const value of values) observe(tables, 'c', 'k', [value]);
          const moments = momentsOf(tables.columns.get('c') as Map<string, Float64Array>, 'k', 0);
          const sum = values.reduce((a, b) => a + b, 0);
          const mean = sum / values.length;
          const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
          const found = Object.fromEntries(
            STATISTICS.map((name) => [name, statisticOf(moments, name)]),
          );
          expect(found).toMatchObject({
            count: values.length,
            min: Math.min(...values),
            max: Math.max(...values),
            last: values.at(-1),
          });
          expect(found.avg).toBeCloseTo(mean, 8);
          expect(found.sum).toBeCloseTo(sum, 8);
          expect(found.std).toBeCloseTo(Math.sqrt(squares / (values.length - 1)), 6);
        },
      ),
    );
  });

  test('leave rows without a number out, and are the same after they were saved', () => {
    const tables: DistTables = { mode: 'bagOfWords', outcomes: ['x', 'y'], columns: new Map() };
    observe(tables, 'c', 'k', [1, Number.NaN]);
    const saved = distTablesFromJson(JSON.parse(JSON.stringify(distTablesToJson(tables))));
    expect(saved).toEqual(tables);
    const moments = momentsOf(saved.columns.get('c') as Map<string, Float64Array>, 'k', 1);
    expect([statisticOf(moments, 'count'), statisticOf(moments, 'avg')]).toEqual([0, Number.NaN]);
  });
});

describe('counts of outcomes', () => {
  test('are kept by column and key, and are the same after they were saved', () => {
    const tables: StatsTables = { outcomes: ['click'], columns: new Map() };
    count(tables, 'host', 'a', Uint8Array.of(1));
    count(tables, 'host', 'a', Uint8Array.of(0));
    const saved = statsTablesFromJson(
      't',
      JSON.parse(JSON.stringify(statsTablesToJson('t', tables))),
    );
    const host = saved.columns.get('host') as Map<string, Float64Array>;
    expect([...countsOf(saved, host, 'a')]).toEqual([2, 1]);
    expect([...countsOf(saved, host, 'b')]).toEqual([0, 0]);
  });

  test('of another kind are refused', () => {
    const tables: StatsTables = { outcomes: [], columns: new Map() };
    expect(() => statsTablesFromJson('other', statsTablesToJson('t', tables))).toThrow("kind 't'");
  });
});

describe('weights of terms', () => {
  const model = {
    documentCount: 4,
    counts: new Map([
      ['fish', 3],
      ['soup', 2],
    ]),
  };

  test.each([
    ['raw', 'unary', [2, 1]],
    ['log', 'unary', [Math.log(3), Math.log(2)]],
    ['augmented', 'unary', [1, 0.75]],
    ['raw', 'inverse', [0, Math.log(4 / 3)]],
    ['raw', 'inverseSmooth', [2 * Math.log(2), Math.log(1 + 4 / 3)]],
    ['raw', 'inverseMax', [2 * Math.log(1.75), Math.log(2)]],
    ['raw', 'probabilisticInverse', [2 * Math.log(1 / 4), Math.log(2 / 3)]],
  ] as const)('follow their formulas: %s, %s', (tf, idf, expected) => {
    const found = weighTerms(model, ['fish', 'soup'], [2, 1], tf, idf);
    for (const [i, value] of expected.entries()) expect(found[i]).toBeCloseTo(value, 12);
  });

  test('are the same after the counts were saved', () => {
    expect(frequenciesFromJson(JSON.parse(JSON.stringify(frequenciesToJson(model))))).toEqual(
      model,
    );
  });
});
