// The SQL screen: what is typed, completed, found wrong, run, and looked at.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { SILENT_LOGGER } from '../../../src/service/logger.ts';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, runSql, seenRows, typeSql } from '../../support/console.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();
const CANCEL_MS = 200;
const CANCELS_MAX = 8;

describe.runIf(canTest('chromium', executablePath))('the SQL screen', () => {
  let session: BrowserSession;
  /** the service's own record of queries: when each began and ended */
  const queries: { readonly start: number; readonly end: number }[] = [];

  beforeAll(async () => {
    const logger = {
      ...SILENT_LOGGER,
      info({ path, durationMs }: { readonly path?: unknown; readonly durationMs?: unknown }) {
        const end = Date.now();
        if (path === '/v1/query') queries.push({ start: end - Number(durationMs), end });
      },
    };
    session = await startBrowser(executablePath, { logger, hasAccessLog: true });
    const rows = Array.from({ length: 200 }, (_, index) => [
      `r${index}`,
      [
        ['name', `name ${index}`, 0],
        ['amount', index / 4, 0],
      ],
    ]);
    await send('PUT', '/v1/datasets/people', { type: 'tabular' });
    await send('POST', '/v1/datasets/people/multirows', rows);
    await send('POST', '/v1/datasets/people/commit', {});
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  async function send(method: string, path: string, body: unknown): Promise<void> {
    const reply = await fetch(session.origin + path, { method, body: JSON.stringify(body) });
    expect(reply.status).toBeLessThan(300);
  }

  test('shows rows, and sorts and filters by rewriting the statement', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, 'SELECT * FROM people');
    expect(await seenRows(page)).toContainEqual(['name 1', '0.25']);
    await page.locator('[role=columnheader]', { hasText: 'amount' }).click();
    await page.getByRole('menuitem', { name: 'Sort descending' }).click();
    await page.locator('.cm-content', { hasText: 'ORDER BY' }).waitFor();
    await page.locator('[role=columnheader][aria-sort=descending]').waitFor();
    expect((await seenRows(page))[0]).toEqual(['name 199', '49.75']);
    await page.locator('[role=gridcell]', { hasText: 'name 198' }).click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Only rows with this value' }).click();
    await page.locator('.outcome', { hasText: '1 row ' }).waitFor();
    expect(await page.locator('.cm-content').textContent()).toContain(`WHERE name = 'name 198'`);
    expect(offences).toEqual([]);
  });

  test('completes columns of the dataset, wherever the cursor is', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(page, 'SELECT  FROM people');
    await page.keyboard.press('Home');
    for (let count = 0; count < 'SELECT '.length; count++) await page.keyboard.press('ArrowRight');
    await page.keyboard.type('am');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: 'amount' }).first().click();
    expect(await page.locator('.cm-content').textContent()).toBe('SELECT amount FROM people');
    expect(offences).toEqual([]);
  });

  test('underlines what is wrong and mends it', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(page, 'SELECT\n     cuont(*)\nFROM people');
    const mark = page.locator('.cm-lintRange-error');
    await mark.waitFor();
    expect(await page.locator('.cm-line', { has: mark }).textContent()).toContain('cuont');
    await typeSql(page, 'SELECT amuont FROM people');
    const warning = page.locator('.cm-lintRange-warning');
    await warning.waitFor();
    expect(await warning.textContent()).toBe('amuont');
    await warning.hover();
    await page.locator('.cm-diagnosticAction', { hasText: 'amount' }).click();
    expect(await page.locator('.cm-content').textContent()).toBe('SELECT amount FROM people');
    expect(offences).toEqual([]);
  });

  test.each([
    ['SELECT 1 FORM people', 'FORM', 'error', 'SELECT 1 FROM people'],
    ['SELECT * FROM\n  peple', 'peple', 'error', 'SELECT * FROM  people'],
    ['SELECT jacard_index(1, 2)', 'jacard_index', 'error', 'SELECT jaccard_index(1, 2)'],
    ['WITH t AS (SELECT amount FROM people) SELECT\n amont FROM t', 'amont', 'warning', undefined],
    ['SELEC 1', 'SELEC', 'error', 'SELECT 1'],
  ])('%s: the service says what is wrong', async (sql, marked, severity, mended) => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(page, sql);
    const mark = page.locator(`.cm-lintRange-${severity}`);
    await mark.waitFor();
    expect(await mark.textContent()).toBe(marked);
    if (mended === undefined) return;
    await mark.hover();
    await page.locator('.cm-diagnosticAction').first().click();
    expect(await page.locator('.cm-content').textContent()).toBe(mended);
    expect(offences).toEqual([]);
  });

  test('what a statement that ran was warned of stands above its rows', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, 'SELECT amuont FROM people LIMIT 1');
    const warning = page.getByRole('list', { name: 'Warnings' });
    await warning.waitFor();
    expect(await warning.textContent()).toContain('did you mean amount?');
    expect(offences).toEqual([]);
  });

  test('the plan is measured with rows and milliseconds', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, 'SELECT name, count(*) FROM people GROUP BY name');
    await page.getByRole('tab', { name: 'Plan' }).click();
    await page.getByRole('button', { name: 'Run and measure' }).click();
    await page.getByText('rows and times as measured').waitFor();
    const scan = page.locator('tr', { hasText: 'scan people' });
    expect(await scan.locator('td').nth(2).textContent()).toBe('200');
    expect(Number(await scan.locator('td').nth(3).textContent())).toBeGreaterThanOrEqual(0);
    expect(await scan.locator('td').last().textContent()).toBe('row values');
    expect(offences).toEqual([]);
  });

  test('keeps drafts over a reload', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(page, 'SELECT 1 AS kept');
    await page.reload();
    await page.locator('.cm-content', { hasText: 'SELECT 1 AS kept' }).waitFor();
    expect(offences).toEqual([]);
  });

  // Load can only add to the time between a click and the end of the request, so the best of a few
  // tells what the console and the service take.
  test('cancels a query, which ends at the service at once', { timeout: 60_000 }, async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await page.evaluate(
      "addEventListener('click', () => { window.clickedAt = Date.now(); }, { capture: true })",
    );
    queries.length = 0;
    await typeSql(
      page,
      'SELECT count(*) FROM people AS a JOIN people AS b ON a.amount >= b.amount JOIN people AS c ON c.amount >= b.amount JOIN people AS d ON d.amount >= a.amount',
    );
    // The editor has asked what is wrong with it.
    await expect.poll(() => queries.length, { timeout: 15_000 }).toBeGreaterThan(0);
    const times: number[] = [];
    while (times.length < CANCELS_MAX && !times.some((time) => time <= CANCEL_MS)) {
      const pressedAt = Date.now();
      await page.keyboard.press('Control+Enter');
      const cancel = page.locator('.actions .button', { hasText: 'Cancel' });
      await cancel.click();
      await page.locator('.outcome', { hasText: 'cancelled' }).waitFor();
      const clickedAt = (await page.evaluate('window.clickedAt')) as number;
      const ended = () =>
        queries.find(({ start, end }) => start >= pressedAt && end >= clickedAt)?.end;
      await expect.poll(ended, { timeout: 15_000 }).toBeDefined();
      times.push((ended() as number) - clickedAt);
      await page.locator('.cm-content').focus();
    }
    expect(Math.min(...times)).toBeLessThanOrEqual(CANCEL_MS);
    expect(offences).toEqual([]);
  });
});
