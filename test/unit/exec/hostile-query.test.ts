// Queries made to hurt: very deep, very long, or never ready. Each ends soon, in a result or an error.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { run } from '../../support/query.ts';

const DEPTH = 10_000;
const LIST_LENGTH = 100_000;
const integers = Array.from({ length: LIST_LENGTH }, (_, i) => i);

describe('a query nested 10,000 deep', () => {
  it.each([
    ['parentheses', '(', '1', ')'],
    ['embeddings', '[', '1', ']'],
    ['rows', '{a: ', '1', '}'],
    ['calls', 'abs(', '1', ')'],
    ['NOT', 'NOT ', '1', ''],
    ['signs', '- ', '1', ''],
    ['CASE', 'CASE WHEN 1 THEN ', '1', ' END'],
    ['extracts', '', '{a: 1}', '[a]'],
    ['IS', '', '1', ' IS TRUE'],
    ['BETWEEN', '', '1', ' BETWEEN 0 AND 1'],
    ['IN', '', '1', ' IN (1)'],
  ])('of %s is refused by name', (_, before, inside, after) => {
    const sql = `SELECT ${before.repeat(DEPTH)}${inside}${after.repeat(DEPTH)}`;
    expect(() => run(sql)).toThrow(/nested (more than|too deeply)/);
  });

  it('of sub-selects is refused by name', () => {
    const sql = `${'SELECT * FROM ('.repeat(DEPTH)}SELECT 1${')'.repeat(DEPTH)}`;
    expect(() => run(sql)).toThrow(/nested/);
  });

  it('of AND is only long', () => {
    expect(run(`SELECT ${'1 AND '.repeat(DEPTH)}1 AS x`)).toEqual([
      ['_rowName', 'x'],
      ['result', 1],
    ]);
  });
});

describe('a list of 100,000 values', () => {
  const answer = [
    ['_rowName', 'x'],
    ['result', 1],
  ];

  it.each([
    ['integers', `SELECT 99999 IN (${integers.join(', ')}) AS x`],
    ['strings', `SELECT 'v7' IN (${integers.map((i) => `'v${i}'`).join(', ')}) AS x`],
    ['the wrong type', `SELECT '5' NOT IN (${integers.join(', ')}) AS x`],
  ])('of %s is searched at once', (_, sql) => {
    // A quadratic walk would take minutes, and the test would end for that.
    expect(run(sql)).toEqual(answer);
  });
});

describe('literals and names', () => {
  it('of a million digits are numbers', () => {
    expect(run(`SELECT ${'9'.repeat(1e6)} AS x`)).toEqual([
      ['_rowName', 'x'],
      ['result', 'Inf'],
    ]);
  });

  it('may have every control character but NUL', () => {
    const controls = Array.from({ length: 31 }, (_, i) => String.fromCharCode(i + 1)).join('');
    expect(run(`SELECT '${controls}' AS "${controls}"`)).toEqual([
      ['_rowName', `"${controls}"`],
      ['result', controls],
    ]);
    expect(() => run('SELECT 1 AS "\0"')).toThrow(/U\+0000/);
  });
});

describe('a regular expression that explodes', () => {
  let rowan: Rowan;

  beforeAll(async () => {
    rowan = await Rowan.open({ dataDir: null, workers: 1 });
    await rowan.query('SELECT 1');
  }, 30_000);

  afterAll(() => rowan.close());

  it('is stopped when the client goes away, and the service lives on', async () => {
    const text = `${'a'.repeat(40)}!`;
    const query = rowan.query(`SELECT regex_search('${text}', '(?=a)(a+)+$') AS x`, {
      signal: AbortSignal.timeout(300),
    });
    const start = performance.now();
    await expect(query).rejects.toMatchObject({ code: 'CANCELLED' });
    // Work that could look at its cancellation would be given 1.5 s to do so.
    expect(performance.now() - start).toBeLessThan(300 + 1000);
    expect(await rowan.query('SELECT 1 AS x')).toEqual([
      ['_rowName', 'x'],
      ['result', 1],
    ]);
  }, 30_000);
});
