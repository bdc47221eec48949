// What users do, with the keyboard alone: no test here touches the mouse.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, seenRows } from '../../support/console.ts';
import { fillStore } from '../../support/console-store.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();
const STOPS_MAX = 80;

describe.runIf(canTest('chromium', executablePath))('by keyboard alone', () => {
  let session: BrowserSession;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rowan-keyboard-'));
    session = await startBrowser(executablePath, { dataDir: join(folder, 'data') });
    await fillStore(session);
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(async () => {
    await session?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Presses Tab until something has the focus, which must be seen then. */
  async function tabTo(page: Page, target: Locator): Promise<void> {
    await target.waitFor();
    for (let stop = 0; stop < STOPS_MAX; stop++) {
      const isThere = await target.evaluate(
        (element) => element === element.ownerDocument.activeElement,
      );
      if (isThere) {
        const outline = await target.evaluate((element) => {
          const style = element.ownerDocument.defaultView?.getComputedStyle(element);
          return `${style?.outlineStyle} ${style?.boxShadow} ${style?.borderColor}`;
        });
        expect(outline).not.toMatch(/^none none rgba\(0, 0, 0, 0\)$/);
        return;
      }
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not reach ${target}`);
  }

  async function goTo(page: Page, words: string): Promise<void> {
    await page.getByRole('navigation').first().waitFor();
    await page.keyboard.press('Control+k');
    const box = page.getByRole('dialog').getByRole('combobox');
    await box.waitFor();
    await page.keyboard.type(words);
    await page.keyboard.press('Enter');
    await box.waitFor({ state: 'detached' });
  }

  test('a newcomer imports a file and looks at it', { timeout: 60_000 }, async () => {
    const file = join(folder, 'pets.csv');
    writeFileSync(file, 'name,age\nRex,3\nTom,9\n');
    const { page, offences } = await openConsole(session, '/');
    // The browser hands choosers over from when it is told to, which takes a moment.
    const chosen = page.waitForEvent('filechooser');
    const choose = page.getByRole('button', { name: 'Choose a file' });
    await tabTo(page, choose);
    await page.keyboard.press('Enter');
    await (await chosen).setFiles(file);
    await page.locator('.preview td', { hasText: 'Rex' }).waitFor();
    await tabTo(page, page.getByRole('button', { name: 'Import', exact: true }));
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Look at pets' }));
    await page.keyboard.press('Enter');
    expect((await seenRows(page)).map((row) => row.slice(1))).toEqual([
      ['Rex', '3'],
      ['Tom', '9'],
    ]);
    await tabTo(page, page.getByRole('button', { name: 'Train' }));
    await page.keyboard.press('Enter');
    await page.getByLabel('Predict').waitFor();
    expect(offences).toEqual([]);
  });

  test('an analyst writes, runs, walks the rows and copies', async () => {
    const { page, offences } = await openConsole(session, '/');
    await goTo(page, 'SQL');
    const editor = page.locator('.cm-content');
    await tabTo(page, editor);
    await page.keyboard.insertText('SELECT age, city FROM people ORDER BY rowName() LIMIT 3');
    await page.keyboard.press('Control+Enter');
    await page.locator('.outcome', { hasText: '3 rows' }).waitFor();
    // Once for proposals that may be open, once for the editor.
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    const grid = page.getByRole('grid');
    await tabTo(page, grid);
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    await page.locator('.messages', { hasText: 'copied' }).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()')).split('\n');
    expect([copied.length, copied[0]]).toEqual([4, 'age\tcity']);
    await page.keyboard.press('F6');
    const inGrid = await grid.evaluate((element) =>
      element.contains(element.ownerDocument.activeElement),
    );
    expect(inGrid).toBe(false);
    expect(offences).toEqual([]);
  });

  test('a developer finds a model and tries it', async () => {
    const { page, offences } = await openConsole(session, '/');
    await goTo(page, 'likely');
    await page.getByRole('heading', { name: 'likely', exact: true }).waitFor();
    const tab = page.getByRole('tab', { name: 'Card' });
    await tabTo(page, tab);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const age = page.getByLabel('age', { exact: true });
    await tabTo(page, age);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('69');
    const income = page.getByLabel('income', { exact: true });
    await tabTo(page, income);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1700');
    const snippet = page.locator('.take-along pre');
    await snippet.filter({ hasText: '1700' }).waitFor();
    const [body = ''] = /\{.*\}/s.exec((await snippet.textContent()) ?? '') ?? [];
    const input = JSON.parse(body);
    expect(input).toMatchObject({ input: { features: { age: 69, income: 1700 } } });
    const { json } = await session.rowan.post<{ score: number }>(
      '/v1/functions/likely/application',
      input,
    );
    await page.locator(`[data-score="${json.score}"]`).waitFor();
    expect(offences).toEqual([]);
  });

  test('an operator cancels a run, and deletes only what is typed', async () => {
    await session.rowan.put('/v1/procedures/long', {
      type: 'mock',
      params: { durationMs: 60_000 },
    });
    await session.rowan.perform('POST', '/v1/procedures/long/runs', {
      body: {},
      headers: { async: 'true' },
    });
    const { page, offences } = await openConsole(session, '/runs');
    const running = page.getByRole('link', { name: '1 running' });
    await tabTo(page, running);
    await page.keyboard.press('Enter');
    const row = page.locator('tr', { hasText: 'executing' }).locator('.when a');
    await tabTo(page, row);
    await page.keyboard.press('Enter');
    await tabTo(page, page.getByRole('button', { name: 'Cancel' }));
    await page.keyboard.press('Enter');
    await page.locator('.state.cancelled').waitFor();
    await goTo(page, 'people_map');
    await tabTo(page, page.getByRole('button', { name: 'Delete' }));
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.type('people_ma');
    await page.keyboard.press('Enter');
    const ids = async () => (await session.rowan.get<string[]>('/v1/datasets')).json;
    expect(await ids()).toContain('people_map');
    await page.keyboard.type('p');
    await tabTo(page, dialog.getByRole('button', { name: 'Delete' }));
    await page.keyboard.press('Enter');
    await expect.poll(ids).not.toContain('people_map');
    expect(offences).toEqual([]);
  });
});
