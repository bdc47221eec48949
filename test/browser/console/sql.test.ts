// The SQL screen: what is typed, completed, found wrong, run, and looked at.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, runSql, seenRows, typeSql } from '../../support/console.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();

describe.runIf(canTest('chromium', executablePath))('the SQL screen', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
    const rows = Array.from({ length: 200 }, (_, index) => [
      `r${index}`,
      [
        ['name', `name ${index}`, 0],
        ['amount', index / 4, 0],
      ],
    ]);
    await send('PUT', '/v1/datasets/people', { type: 'sparse.mutable' });
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
    expect(await seenRows(page)).toContainEqual(['0.25', 'name 1']);
    await page.locator('[role=columnheader]', { hasText: 'amount' }).click();
    await page.getByRole('menuitem', { name: 'Sort descending' }).click();
    await page.locator('.cm-content', { hasText: 'ORDER BY' }).waitFor();
    await page.locator('[role=columnheader][aria-sort=descending]').waitFor();
    expect((await seenRows(page))[0]).toEqual(['49.75', 'name 199']);
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

  test('keeps drafts over a reload', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(page, 'SELECT 1 AS kept');
    await page.reload();
    await page.locator('.cm-content', { hasText: 'SELECT 1 AS kept' }).waitFor();
    expect(offences).toEqual([]);
  });

  test('cancels a query, which frees the service', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(
      page,
      'SELECT count(*) FROM people AS a JOIN people AS b ON a.amount >= b.amount JOIN people AS c ON c.amount >= b.amount JOIN people AS d ON d.amount >= a.amount',
    );
    await page.keyboard.press('Control+Enter');
    await page.locator('.actions .button', { hasText: 'Cancel' }).click();
    await page.locator('.outcome', { hasText: 'cancelled' }).waitFor();
    const inFlight = async () => {
      const text = await (await fetch(`${session.origin}/v1/metrics`)).text();
      return Number(/^rowan_http_requests_in_flight (\d+)/m.exec(text)?.[1]);
    };
    await expect.poll(inFlight).toBeLessThanOrEqual(2);
    expect(offences).toEqual([]);
  });
});
