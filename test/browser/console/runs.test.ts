// Runs as they are followed, cancelled and compared, and results of a service that breaks off.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, typeSql } from '../../support/console.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();

describe.runIf(canTest('chromium', executablePath))('runs', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  test('are started from a form, followed, and cancelled', async () => {
    const { page, offences } = await openConsole(session, '/new/procedures/mock?id=slow');
    await page.getByText('JSON', { exact: true }).click();
    await page.getByLabel('JSON', { exact: true }).fill('{"durationMs": 60000}');
    await page.getByRole('button', { name: 'Create and run' }).click();
    await page.locator('progress').first().waitFor();
    await page.locator('.running', { hasText: '1 running' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.state.cancelled').waitFor();
    expect(offences).toEqual([]);
  });

  test('are compared, with what differs first', async () => {
    const names: [string, string][] = [];
    for (const [id, type] of [
      ['first', 'null'],
      ['second', 'mock'],
    ] as const) {
      const params = type === 'mock' ? { durationMs: 1 } : {};
      await session.rowan.put(`/v1/procedures/${id}`, { type, params });
      const { json } = await session.rowan.post<{ id: string }>(`/v1/procedures/${id}/runs`, {});
      names.push([id, json.id]);
    }
    const compare = new URLSearchParams({ compare: JSON.stringify(names) });
    const { page, offences } = await openConsole(session, `/runs?${compare}`);
    const row = page.locator('tr.different', { hasText: 'type' });
    await row.waitFor();
    expect(await row.locator('td').allTextContents()).toEqual(['null', 'mock']);
    expect(offences).toEqual([]);
  });

  test('a result that breaks off says so', async () => {
    const { page } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await page.context().route('**/v1/query', (route) => route.abort('connectionreset'));
    await typeSql(page, 'SELECT 1 AS one');
    await page.keyboard.press('Control+Enter');
    await page.locator('.failure', { hasText: 'UNREACHABLE' }).waitFor();
    await page.context().unroute('**/v1/query');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.outcome', { hasText: '1 row ' }).waitFor();
  });
});
