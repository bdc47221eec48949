// Random queries of the whole grammar answer what DuckDB answers. What differs on purpose (section
// "What is different, and why" of docs/guide/5-standard-sql.md) is not generated.
// ROWAN_DIFFERENTIAL_QUERIES asks for more of them, ROWAN_TEST_SEED for others.
// Where DuckDB has no module for the platform one test stands here, whose name says that nothing is compared.
import { expect, test } from 'vitest';
import { Choices, shrink } from './choices.ts';
import { difference } from './compare.ts';
import { DUCKDB_PLATFORMS, duckdbModule, type Engines, openEngines, TABLES } from './engines.ts';
import { randomQuery } from './query.ts';

const QUERY_COUNT = Number(process.env.ROWAN_DIFFERENTIAL_QUERIES ?? 1000);
const FIRST_SEED = (Number(process.env.ROWAN_TEST_SEED ?? 1) || Date.now() % 1000) * 1_000_000;
/** One is made smaller at a time, so more than these would only cost time. */
const DIFFERENCE_COUNT_MAX = 5;

/** A product of many tables takes its time and shows nothing that few rows do not. */
const ROW_COUNT_MAX = 20_000;
const UNASKED = { text: '', isAnswered: false };

async function compare(
  engines: Engines,
  choices: Choices,
): Promise<{ text: string; isAnswered: boolean }> {
  const { sql, isOrdered } = randomQuery(choices, TABLES);
  const theirs = await engines.duckdb(sql);
  if ('error' in theirs || theirs.rows.length > ROW_COUNT_MAX) return UNASKED;
  const found = difference(await engines.rowan(sql), theirs, isOrdered);
  return { text: found === undefined ? '' : `${sql}\n  ${found}`, isAnswered: true };
}

async function compareAll(): Promise<void> {
  const engines = await openEngines();
  try {
    const differences: string[] = [];
    let answeredCount = 0;
    for (let at = 0; at < QUERY_COUNT && differences.length < DIFFERENCE_COUNT_MAX; at++) {
      const choices = Choices.ofSeed(FIRST_SEED + at);
      const { text, isAnswered } = await compare(engines, choices);
      if (isAnswered) answeredCount++;
      if (text === '') continue;
      const fails = async (made: readonly number[]) =>
        (await compare(engines, Choices.replaying(made))).text !== '';
      const smallest = Choices.replaying(await shrink(choices.made, fails));
      differences.push(`seed ${FIRST_SEED + at}: ${(await compare(engines, smallest)).text}`);
    }
    expect(differences.join('\n')).toBe('');
    // A grammar that the other engine does not take would compare nothing.
    expect(answeredCount / QUERY_COUNT).toBeGreaterThan(0.9);
  } finally {
    await engines.close();
  }
}

if (duckdbModule === undefined) {
  test('nothing is compared: DuckDB has no module for this platform', () => {
    expect(DUCKDB_PLATFORMS).not.toContain(`${process.platform}-${process.arch}`);
  });
} else {
  test(`${QUERY_COUNT} random queries`, compareAll, 300_000 + QUERY_COUNT * 50);
}
