// The console in a browser: a page that fails the test when anything is asked of a stranger, when
// the content policy is hurt, or when an error reaches the browser's console.
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { BrowserSession } from './browser.ts';

export interface ConsolePage {
  readonly page: Page;
  /** what must not have happened, in words */
  readonly offences: string[];
}

/** Replies that a page shows to its user are told by the browser as errors too. */
const HANDLED = /Failed to load resource: the server responded with a status of 4\d\d/;

/** @param place behind the hash, for instance `/sql` */
export async function openConsole(
  session: BrowserSession,
  place: string,
  options: BrowserContextOptions = {},
): Promise<ConsolePage> {
  const context = await session.browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: session.origin });
  const page = await context.newPage();
  const offences: string[] = [];
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (/^(https?|wss?):$/.test(url.protocol) && url.origin !== session.origin) {
      offences.push(`asked ${request.url()}`);
    }
  });
  page.on('console', (message) => {
    const isOffence = message.type() === 'error' && !HANDLED.test(message.text());
    if (isOffence) offences.push(message.text());
  });
  page.on('pageerror', (error) => offences.push(error.stack ?? error.message));
  await page.goto(`${session.origin}/#${place}`);
  return { page, offences };
}

/** Replaces the text of the SQL editor, as a user would. */
export async function typeSql(page: Page, sql: string): Promise<void> {
  await page.click('.cm-content');
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(sql);
}

/** Runs what is in the editor and waits for its end. */
export async function runSql(page: Page, sql: string): Promise<void> {
  await typeSql(page, sql);
  await page.keyboard.press('Control+Enter');
  await page.locator('.outcome[role=status]').waitFor();
}

/** The texts of the cells that are seen, row by row, the numbers of the rows left out. */
export async function seenRows(page: Page): Promise<string[][]> {
  await page.locator('.grid-row:not(.grid-head):not([hidden]) .grid-cell').first().waitFor();
  await page.locator('.grid-cell.pending').first().waitFor({ state: 'detached' });
  return page
    .locator('.grid-row:not(.grid-head):not([hidden])')
    .evaluateAll((rows) =>
      rows.map((row) =>
        [...row.querySelectorAll('.grid-cell:not(.grid-number)')].map((cell) =>
          (cell.textContent ?? '').replaceAll(/[\u2007\u2008]/g, ''),
        ),
      ),
    );
}
