// Maps of embeddings: points with colours, what a part of them holds, and the rows behind it.
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, seenRows } from '../../support/console.ts';
import { fillStore } from '../../support/console-store.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();

const MAP = '/data/people_map?view=map';

describe.runIf(canTest('chromium', executablePath))('a map', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
    await fillStore(session);
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  /** Differing colours of the canvas, counted by their pixels. */
  async function coloursOf(page: Page): Promise<Map<string, number>> {
    const found = await page.evaluate<[string, number][]>(`new Promise((done) =>
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const canvas = document.querySelector('.map-canvas canvas');
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const counts = new Map();
        for (let at = 0; at < data.length; at += 4) {
          const key = data[at] + ',' + data[at + 1] + ',' + data[at + 2];
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
        done([...counts]);
      })))`);
    return new Map(found);
  }

  test('is coloured by a column of the rows that it was made of', async () => {
    const { page, offences } = await openConsole(session, MAP);
    const legend = page.locator('.map-legend button');
    await legend.first().waitFor();
    const words = await legend.allTextContents();
    expect(words.map((text) => text.replaceAll(/[^\w]/g, ''))).toEqual([
      'Bonn75',
      'Kyiv75',
      'Lima75',
      'Oslo75',
    ]);
    const all = await coloursOf(page);
    expect(all.size).toBeGreaterThan(4);
    await legend.first().click();
    expect(await legend.first().getAttribute('aria-pressed')).toBe('true');
    const one = await coloursOf(page);
    // The other points are of one dim colour, so mixtures of colours are gone.
    expect(one.size).toBeLessThan(all.size);
    await page.getByLabel('Colour').selectOption('income');
    await page.locator('.map-scale').waitFor();
    await page.getByLabel('Colour').selectOption('');
    await page.locator('.map-scale').waitFor({ state: 'detached' });
    expect(offences).toEqual([]);
  });

  test('a chosen part leads to exactly its rows', async () => {
    const { page, offences } = await openConsole(session, MAP);
    const canvas = page.locator('.map-canvas canvas');
    await page.locator('.map-legend').waitFor();
    const { x, y, width, height } = (await canvas.boundingBox()) ?? {
      x: 0,
      y: 0,
      width: 0,
      height: 0,
    };
    await page.keyboard.down('Shift');
    await page.mouse.move(x + width * 0.2, y + height * 0.2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.5, y + height * 0.8, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    const heading = page.getByRole('heading', { name: /chosen/ });
    const count = Number(/^\d+/.exec((await heading.textContent()) ?? '')?.[0]);
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(300);
    await page.getByRole('button', { name: 'Show their rows' }).click();
    await page.locator('.outcome', { hasText: `${count} row` }).waitFor();
    expect((await seenRows(page))[0]?.some((cell) => /Oslo|Lima|Kyiv|Bonn/.test(cell))).toBe(true);
    expect(offences).toEqual([]);
  });

  test('is moved, zoomed and chosen from by keyboard, and says which row is in its middle', async () => {
    const { page, offences } = await openConsole(session, '/models/people_place');
    await page.getByRole('tab', { name: 'Map' }).click();
    const canvas = page.getByRole('application');
    await page.locator('.map-legend').waitFor();
    await canvas.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '300 points chosen' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('+');
    await page.keyboard.press('+');
    await page.locator('.map-tip', { hasText: /row p\d+/ }).waitFor();
    await page.keyboard.press('Enter');
    const heading = page.getByRole('heading', { name: /chosen/ });
    await heading.waitFor();
    expect(Number(/^\d+/.exec((await heading.textContent()) ?? '')?.[0])).toBeLessThan(300);
    await page.keyboard.press('0');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: '300 points chosen' }).waitFor();
    expect(offences).toEqual([]);
  });
});
