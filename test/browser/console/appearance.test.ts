// Every screen at every width, light and dark: nothing overflows, and axe finds nothing to object to.
// With ROWAN_SCREENSHOTS=<folder> each is kept there to be looked at.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole } from '../../support/console.ts';
import { fillStore } from '../../support/console-store.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();
const screenshots = process.env.ROWAN_SCREENSHOTS;

const WIDTHS = [1280, 390, 320];
const THEMES = ['light', 'dark'] as const;

/** Name, place, and what is there when the screen is complete. */
const SCREENS: readonly (readonly [name: string, place: string, selector: string])[] = [
  ['home', '/', '.columns a'],
  ['sql', '/sql?q=SELECT%20*%20FROM%20people&run=1', '.grid-cell.number'],
  ['chart', '/sql?q=SELECT%20*%20FROM%20people&run=1&view=chart', '.picture svg'],
  ['plan', '/sql?q=SELECT%20*%20FROM%20people&run=1&view=plan', '.plan td'],
  ['data', '/data', '.links td'],
  ['dataset', '/data/people', '.grid-cell.number'],
  ['profile', '/data/people?view=profile', '.column-card .small'],
  ['map', '/data/people_map?view=map', '.map-legend button'],
  ['models', '/models', '.links td'],
  ['model', '/models/likely', '.definition'],
  ['evaluate', '/models/likely?view=evaluate', '.curves svg'],
  ['try', '/models/likely?view=try', '.score'],
  ['train', '/models/train?dataset=people', '.checks'],
  ['runs', '/runs', '.links td'],
  ['procedure', '/runs/train_likely', '.links td'],
  ['new', '/new/procedures/import.text', '.schema-form'],
  ['types', '/new/procedures', '.type-list'],
  ['plugins', '/plugins/hello', '.state'],
  ['server', '/server', '.figures strong'],
  ['keys', '/server?view=keys', '.page .button.primary'],
];

const SETTLED = 'new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))';
const EXCESS = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

describe.runIf(canTest('chromium', executablePath))('each screen', () => {
  let session: BrowserSession;
  const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

  beforeAll(async () => {
    session = await startBrowser(executablePath);
    await fillStore(session);
    if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  test.each(SCREENS)(
    '%s fits and is within reach of all',
    { timeout: 90_000 },
    async (...screen) => {
      const [name, place, selector] = screen;
      const { page, offences } = await openConsole(session, place);
      await page.locator(selector).first().waitFor();
      for (const theme of THEMES) {
        await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 800 });
          await page.evaluate(SETTLED);
          expect([theme, width, await page.evaluate(EXCESS)]).toEqual([theme, width, 0]);
          if (screenshots !== undefined) {
            await page.screenshot({ path: join(screenshots, `${name}-${theme}-${width}.png`) });
          }
        }
        await page.setViewportSize({ width: WIDTHS[0] as number, height: 800 });
        await page.evaluate(SETTLED);
        await page.evaluate(axe);
        expect([theme, await page.evaluate(FIND_VIOLATIONS)]).toEqual([theme, []]);
      }
      expect(offences).toEqual([]);
    },
  );
});

const FIND_VIOLATIONS = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, any }) =>
    html.slice(0, 160) + ' ' + any.slice(0, 1).map(({ message }) => message).join()).join(' | ')))`;
