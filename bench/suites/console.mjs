// The console in a headless browser beside the limits that it has to keep. A limit stands where other
// suites have a peer, so the ratio says how much of it is used.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { open } from '../../dist/index.js';

export const description = 'first paint, typing, scrolling and maps beside their limits';

const COLUMN_COUNT = 10_000;
const POINT_COUNT = 100_000;
const SCROLL_STEPS = 120;
const KEYS = 'SELECT c1, c22, c333 FROM wide WHERE c4 > 5';

export async function prepare({ rowCount }) {
  const folder = mkdtempSync(join(tmpdir(), 'rowan-bench-console-'));
  const rowan = await open({ dataDir: null });
  const origin = await rowan.listen({ host: '127.0.0.1', port: 0 });
  await fill(rowan, folder, rowCount);
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
  const visit = async (place, work) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    try {
      const page = await context.newPage();
      await page.goto(`${origin}/#${place}`);
      return { value: await work(page) };
    } finally {
      await context.close();
    }
  };
  const measure = (name, limit, place, work, unit = 'ms') => ({
    ...{ name, unit, goal: 1 },
    contenders: { console: () => visit(place, work), limit: () => ({ value: limit }) },
  });
  const rows = '/sql?q=SELECT%20*%20FROM%20rows&run=1';
  return {
    measures: [
      measure('first paint', 500, '/', firstPaint),
      measure('editor usable', 1000, '/sql', editorUsable),
      measure(`draw while scrolling ${rowCount} rows, 95th of 100`, 12, rows, drawTime),
      measure('nodes of the grid', 1000, rows, gridNodes, 'nodes'),
      measure(`key to paint, ${COLUMN_COUNT} columns`, 20, '/sql', keyToPaint),
      measure(`zoom ${POINT_COUNT} points, a frame`, 34, '/data/points?view=map', zoomFrame),
    ],
    async close() {
      await browser.close();
      await rowan.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function chromiumPath() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      // Under another name, perhaps.
    }
  }
  throw new Error('the suite console needs Chromium');
}

async function fill(rowan, folder, rowCount) {
  const load = async (id, lines) => {
    const file = join(folder, `${id}.csv`);
    writeFileSync(file, `${lines.join('\n')}\n`);
    const params = { dataFileUrl: `file://${file}`, outputDataset: id, runOnCreation: true };
    const { status, text } = await rowan.put(`/v1/procedures/load_${id}`, {
      type: 'import.text',
      params,
    });
    if (status >= 300) throw new Error(text);
  };
  const noise = (row, salt) => ((Math.imul(row + salt, 2_654_435_761) >>> 0) % 10_007) / 10;
  const list = (count, lineOf) => Array.from({ length: count }, (_, row) => lineOf(row));
  await load('rows', [
    'id,a,b,c,city,flag',
    ...list(
      rowCount,
      (row) => `${row},${noise(row, 1)},${noise(row, 2)},${noise(row, 3)},c${row % 97},${row % 2}`,
    ),
  ]);
  await load('points', [
    'x,y,kind',
    ...list(POINT_COUNT, (row) => `${noise(row, 5)},${noise(row, 6)},k${row % 7}`),
  ]);
  await load('wide', [
    list(COLUMN_COUNT, (column) => `c${column}`).join(),
    list(COLUMN_COUNT, (column) => column).join(),
  ]);
}

async function firstPaint(page) {
  await page.locator('.columns, .drop').first().waitFor();
  return page.evaluate(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
}

async function editorUsable(page) {
  await page.waitForSelector('.cm-content');
  return page.evaluate('performance.now()');
}

/** Script, style and layout of one step; what the compositor does is not the page's. */
async function drawTime(page) {
  await page.locator('.outcome[role=status]').waitFor({ timeout: 120_000 });
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const worked = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const value = (name) => metrics.find((metric) => metric.name === name).value;
    return value('ScriptDuration') + value('LayoutDuration') + value('RecalcStyleDuration');
  };
  const times = [];
  for (let step = 0; step < SCROLL_STEPS; step++) {
    const before = await worked();
    await page.evaluate(`new Promise((done) => {
      const grid = document.querySelector('.grid');
      grid.scrollTop = grid.scrollHeight * ${(step * 37) % SCROLL_STEPS} / ${SCROLL_STEPS};
      requestAnimationFrame(() => requestAnimationFrame(done));
    })`);
    times.push(((await worked()) - before) * 1000);
  }
  return share(times, 0.95);
}

async function gridNodes(page) {
  await page.locator('.grid-row:not(.grid-head) .grid-cell.number').first().waitFor();
  return page.locator('.grid *').count();
}

async function keyToPaint(page) {
  await page.waitForSelector('.cm-content');
  await page.click('.cm-content');
  await page.evaluate(`{
    globalThis.times = [];
    addEventListener('keydown', () => {
      const begun = performance.now();
      requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - begun)));
    }, true);
  }`);
  await page.keyboard.type(KEYS, { delay: 40 });
  return share(await page.evaluate('times'), 0.5);
}

async function zoomFrame(page) {
  await page.locator('.map-canvas canvas').waitFor();
  await page.locator('.map-side').waitFor({ timeout: 60_000 });
  return share(
    await page.evaluate(`(async () => {
      const canvas = document.querySelector('.map-canvas canvas');
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      const times = [];
      let last = await frame();
      for (let step = 0; step < 60; step++) {
        const turn = { deltaY: step < 30 ? -40 : 40, clientX: 500, clientY: 400 };
        canvas.dispatchEvent(new WheelEvent('wheel', { ...turn, cancelable: true }));
        const now = await frame();
        times.push(now - last);
        last = now;
      }
      return times;
    })()`),
    0.5,
  );
}

function share(times, part) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.floor(part * (sorted.length - 1))];
}
