// Attack: queries of the whole grammar with pieces cut, doubled, swapped or taken from each other.
// Each has an answer, or a 400 that says where it is wrong: nothing fails inside.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan, type RowanError } from '../../src/index.ts';
import { SqlSyntaxError } from '../../src/sql/error.ts';
import { parseQuery } from '../../src/sql/parser/parser.ts';
import { Choices } from '../differential/choices.ts';
import { TABLES } from '../differential/engines.ts';
import { randomQuery } from '../differential/query.ts';
import { parseSlt } from '../sql/parse-slt.ts';

const PIECE = /\s+|"[^"]*"|'[^']*'|\w+|./gsu;
const CUT_COUNT = 3;
const RUN_COUNT = 250;
const SEED = Number(process.env.ROWAN_TEST_SEED ?? 1) || Date.now() % 1_000_000;
const PARSE_COUNT = 2000;

const SLT = new URL('../sql/', import.meta.url);
const corpus: readonly string[] = readdirSync(SLT, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.slt'))
  .sort()
  .flatMap((name) => parseSlt(readFileSync(join(SLT.pathname, name), 'utf8')).records)
  .flatMap((record) => ('text' in record && !record.text.startsWith('PUT') ? [record.text] : []));

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  for (const { name, columns } of TABLES) {
    await rowan.put(`/v1/datasets/${name}`, { type: 'tabular' });
    const cells = columns.map((column) => [column.name, column.type === 'text' ? 'a' : 1, 0]);
    await rowan.post(`/v1/datasets/${name}/multirows`, [['r', cells]]);
    await rowan.post(`/v1/datasets/${name}/commit`);
  }
});
afterAll(() => rowan?.close());

function queryOf(choices: Choices): string {
  return choices.once(2)
    ? choices.pick(corpus)
    : randomQuery(Choices.ofSeed(choices.below(1e9)), TABLES).sql;
}

function changed(choices: Choices): string {
  let pieces: readonly string[] = queryOf(choices).match(PIECE) ?? [];
  for (let n = 0; n <= choices.below(CUT_COUNT); n++) {
    const at = choices.below(pieces.length + 1);
    const length = choices.below(6);
    const other = queryOf(choices).match(PIECE) ?? [];
    const from = choices.below(other.length + 1);
    const inserted = [
      [],
      pieces.slice(at, at + length),
      other.slice(from, from + choices.below(8)),
      ['('],
      [')'],
      [`'`],
    ][choices.below(6)] as string[];
    pieces = [...pieces.slice(0, at), ...inserted, ...pieces.slice(at + length)];
  }
  return pieces.join('');
}

test('the parser gives a tree or a place', () => {
  const choices = Choices.ofSeed(SEED);
  let refusedCount = 0;
  for (let n = 0; n < PARSE_COUNT; n++) {
    const text = changed(choices);
    try {
      parseQuery(text);
    } catch (error) {
      if (!(error instanceof SqlSyntaxError)) throw new Error(text, { cause: error });
      expect(error.offset, text).toBeLessThanOrEqual(text.length);
      expect(error.line, text).toBeGreaterThanOrEqual(1);
      expect(error.column, text).toBeGreaterThanOrEqual(1);
      refusedCount++;
    }
  }
  // Both must be met often, or nothing is shown.
  expect(refusedCount).toBeGreaterThan(PARSE_COUNT / 10);
  expect(refusedCount).toBeLessThan((PARSE_COUNT * 19) / 20);
});

test('the service answers or says where it is wrong', async () => {
  const choices = Choices.ofSeed(SEED + 1);
  let answeredCount = 0;
  for (let n = 0; n < RUN_COUNT; n++) {
    const text = changed(choices);
    try {
      await rowan.query(text, { timeoutMs: 5000 });
      answeredCount++;
    } catch (thrown) {
      const { code, httpCode, details, message } = thrown as RowanError;
      const about = `${text}\n${message}`;
      // A dataset that is not there, or one that is given up, has no place.
      if (code === 'TIMEOUT' || httpCode === 404) continue;
      expect(httpCode, about).toBe(400);
      if (code === 'SQL_SYNTAX' || code === 'SQL_BINDING') {
        expect(details, about).toMatchObject({ line: expect.any(Number) });
      }
    }
  }
  expect(answeredCount).toBeGreaterThan(RUN_COUNT / 20);
});
