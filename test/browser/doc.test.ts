// The documentation in a real browser: it loads, asks nobody else, and its try-it-out works.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../support/browser.ts';
import { canTest, findChromium } from '../support/services.ts';

const executablePath = findChromium();

describe.runIf(canTest('chromium', executablePath))('the documentation in a browser', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
  });

  afterAll(() => session?.close());

  test('start page leads to the reference of a type', async () => {
    const { page, strangers } = await openPage('/doc/');
    await page.click('nav >> text=sparse.mutable');
    expect(await page.textContent('h1')).toBe('sparse.mutable');
    expect(strangers).toEqual([]);
    await page.close();
  });

  test('a search finds functions, and a dead link leads on', async () => {
    const { page, strangers } = await openPage('/doc/nowhere.html');
    expect(await page.textContent('h1')).toBe('There is no such page');
    await page.fill('#search', 'jaccard');
    await page.click('#found a');
    expect(new URL(page.url()).hash).toBe('#jaccard_index');
    await page.goto(`${session.origin}/doc/sql/`);
    await page.click('main a >> text=jaccard_index');
    expect(new URL(page.url()).hash).toBe('#jaccard_index');
    expect(strangers).toEqual([]);
    await page.close();
  });

  test('pages fit a phone, with their contents behind a button', async () => {
    const { page } = await openPage('/doc/reference/procedures/import.text.html');
    await page.setViewportSize({ width: 390, height: 844 });
    const excess = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(excess).toBe(0);
    const link = page.locator('nav a', { hasText: 'sparse.mutable' });
    expect(await link.isVisible()).toBe(false);
    await page.click('text=Contents');
    await link.click();
    expect(await page.textContent('h1')).toBe('sparse.mutable');
    await page.close();
  });

  test('API page runs GET /v1/types against this server', async () => {
    const { page, strangers } = await openPage('/doc/api/#tag/types/get/v1types');
    await page
      .locator('button', { hasText: /Test Request\(get \/v1\/types\)/ })
      .first()
      .click();
    const answered = page.waitForResponse((response) =>
      new URL(response.url()).pathname.startsWith('/v1/'),
    );
    await page.locator('button', { hasText: 'Send' }).first().click();
    const response = await answered;
    expect(response.url()).toBe(`${session.origin}/v1/types`);
    expect(response.status()).toBe(200);
    expect(await response.json()).toContain('procedures');
    expect(strangers).toEqual([]);
    await page.close();
  }, 60_000);

  /** A page, and the addresses outside this server that it asked. */
  async function openPage(path: string): Promise<{ page: Page; strangers: string[] }> {
    const page = await session.browser.newPage();
    const strangers: string[] = [];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (/^https?:$/.test(url.protocol) && url.origin !== session.origin)
        strangers.push(request.url());
    });
    page.on('websocket', (socket) => strangers.push(socket.url()));
    await page.goto(session.origin + path);
    return { page, strangers };
  }
});
