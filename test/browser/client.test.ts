// The client as it is shipped, in a real browser.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../support/browser.ts';
import { projectRoot } from '../support/project.ts';
import { canTest, findChromium } from '../support/services.ts';

const executablePath = findChromium();

describe.runIf(canTest('chromium', executablePath))('the client in a browser', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath, { assetsPath: join(projectRoot, 'dist') });
  });

  afterAll(() => session?.close());

  test('creates, queries, applies, streams, and runs', async () => {
    const page = await session.browser.newPage();
    await page.goto(`${session.origin}/info`);
    const found = await page.evaluate(PROGRAM);
    expect(found).toEqual({
      rows: [{ n: 1 }, { n: 2 }],
      iterated: [1, 2],
      redirected: 1,
      outputs: Array.from({ length: 2000 }, (_, x) => x * 2),
      events: 'result',
      code: 'SQL_BINDING',
    });
    await page.close();
  }, 60_000);
});

/** Runs in the page, which has nothing but what the server gives it. */
const PROGRAM = `(async () => {
  const { connect } = await import('/resources/client/index.js');
  const rowan = connect(location.origin);
  const dataset = await rowan.createDataset({ id: 'd', type: 'sparse.mutable' });
  async function* lines() {
    for (const n of [1, 2]) yield ['r' + n, [['n', n, 0]]];
  }
  await dataset.recordRows(lines());
  await dataset.commit();
  const query = rowan.query('SELECT n FROM d ORDER BY n', { rowNames: false });
  const iterated = [];
  for await (const { n } of query) iterated.push(n);
  const body = { q: 'SELECT 1', format: 'atom' };
  const redirected = (await rowan.perform('GET', '/v1/query', { body })).json;
  const params = { expression: 'x * 2 AS y', prepared: true };
  const double = await rowan.createFunction({ id: 'double', type: 'sql.expression', params });
  const outputs = [];
  for await (const { y } of double.stream(Array.from({ length: 2000 }, (_, x) => ({ x })))) {
    outputs.push(y);
  }
  const procedure = await rowan.createProcedure({ id: 'p', type: 'null' });
  let events;
  for await (const { event } of procedure.run({ id: 'r' })) events = event;
  const code = await rowan.query('SELECT nope(1)').catch((error) => error.code);
  return { rows: await query.rows(), iterated, redirected, outputs, events, code };
})()`;
