// Large, hostile and refused things: what is shown stays right, whole and harmless.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { encodePathElement } from '../../../src/client/index.ts';
import { SILENT_LOGGER } from '../../../src/service/logger.ts';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, runSql, seenRows, typeSql } from '../../support/console.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();

const ROW_COUNT = 1_000_000;
const COLUMN_COUNT = 10_000;
const EXPORTED_COUNT = 100_000;
const DATASET_COUNT = 10_000;
const HOSTILE = `<img src=x onerror="document.title='hurt'">`;
const IDS = ['a/b', '"', "'", '%2F', '..', '🦜', 'עברית', HOSTILE];

describe.runIf(canTest('chromium', executablePath))('what the console shows', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
    for (const id of IDS) {
      await send('PUT', `/v1/datasets/${encodePathElement(id)}`, { type: 'sparse.mutable' });
    }
    const path = `/v1/datasets/${encodeURIComponent(HOSTILE)}`;
    const cells = [
      ['markup', HOSTILE, 0],
      ['long', 'x'.repeat(1_000_000), 0],
      ['whole', 2 ** 53, 0],
      ['none', { num: 'NaN' }, 0],
      ['bytes', { blob: [1, 2, 255] }, 0],
      ['past', 2n ** 53n + 1n, 0],
      ['most', 2n ** 64n - 1n, 0],
      ['least', -(2n ** 63n), 0],
    ];
    await send('POST', `${path}/multirows`, [['row', cells]]);
    await send('POST', `${path}/commit`, {});
    const wide = Array.from({ length: COLUMN_COUNT }, (_, index) => [`c${index}`, index, 0]);
    await send('PUT', '/v1/datasets/wide', { type: 'sparse.mutable' });
    await send('POST', '/v1/datasets/wide/multirows', [['row', wide]]);
    await send('POST', '/v1/datasets/wide/commit', {});
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  async function send(verb: string, path: string, body: unknown): Promise<void> {
    const { status, text } = await session.rowan.perform(verb, path, { body });
    expect([verb, path, status < 300, status < 300 ? '' : text]).toEqual([verb, path, true, '']);
  }

  test('the last of a million rows, few nodes, and whole copies', { timeout: 90_000 }, async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    const folder = mkdtempSync(join(tmpdir(), 'rowan-rows-'));
    const file = join(folder, 'rows.csv');
    const lines = Array.from({ length: ROW_COUNT }, (_, index) => index).join('\n');
    writeFileSync(file, `n\n${lines}\n`);
    const params = { dataFileUrl: `file://${file}`, outputDataset: 'rows', runOnCreation: true };
    await send('PUT', '/v1/procedures/load', { type: 'import.text', params });
    rmSync(folder, { recursive: true });
    await runSql(page, 'SELECT n FROM rows');
    await page.locator('.outcome', { hasText: ROW_COUNT.toLocaleString('en') }).waitFor();
    await page.locator('.grid').focus();
    await page.keyboard.press('Control+End');
    await page.locator('[role=gridcell]', { hasText: String(ROW_COUNT - 1) }).waitFor();
    expect(await page.locator('.grid').getAttribute('aria-rowcount')).toBe(String(ROW_COUNT + 1));
    expect(await page.locator('.grid *').count()).toBeLessThan(1000);
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    await page.locator('.messages', { hasText: 'cells copied' }).waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()')).split('\n');
    expect([copied.length, copied[0], copied.at(-1)]).toEqual([
      ROW_COUNT + 1,
      'n',
      String(ROW_COUNT - 1),
    ]);
    expect(offences).toEqual([]);
  });

  test.each([
    ['by address', ''],
    ['in a body, where the statement is long', ` OR words = '${'x'.repeat(9000)}'`],
  ])('all rows of a result as a file, asked for %s', { timeout: 60_000 }, async (_, more) => {
    const folder = mkdtempSync(join(tmpdir(), 'rowan-export-'));
    const text = Array.from(
      { length: EXPORTED_COUNT },
      (_, index) => `${index},"row ${index}, ""quoted"" é"\n`,
    );
    writeFileSync(join(folder, 'all.csv'), `n,words\n${text.join('')}`);
    const params = {
      dataFileUrl: `file://${join(folder, 'all.csv')}`,
      outputDataset: 'exported',
      runOnCreation: true,
    };
    await send('PUT', '/v1/procedures/load_all', { type: 'import.text', params });
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, `SELECT n, words FROM exported WHERE n >= 0${more} ORDER BY n`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByTitle('Export all rows as CSV').click(),
    ]);
    expect(download.suggestedFilename()).toBe('result.csv');
    await download.saveAs(join(folder, 'result.csv'));
    const [head, ...rows] = readFileSync(join(folder, 'result.csv'), 'utf8').split(/(?<=\n)/);
    rmSync(folder, { recursive: true });
    expect([head?.trim(), rows.length]).toEqual(['n,words', EXPORTED_COUNT]);
    expect(rows.findIndex((row, index) => row.trim() !== text[index]?.trim())).toBe(-1);
    expect(offences).toEqual([]);
  });

  test('ten thousand datasets: a part is listed, any is found', { timeout: 60_000 }, async () => {
    const ids = Array.from({ length: DATASET_COUNT }, (_, index) => `set_${index}`);
    const last = ids.at(-1) as string;
    const { page, offences } = await openConsole(session, '/');
    const asked = new Set<string>();
    await page.context().route('**/v1/datasets', (route) => route.fulfill({ json: ids }));
    await page.context().route('**/v1/datasets/set_*', (route) => {
      const id = new URL(route.request().url()).pathname.split('/').at(-1) as string;
      asked.add(id);
      const status = { rowCount: 1, columnCount: 1 };
      return route.fulfill({ json: { id, type: 'sparse.mutable', state: 'ok', status } });
    });
    await page.goto(`${session.origin}/#/data`);
    await page.reload();
    await page.getByRole('button', { name: '9,900 more' }).waitFor();
    expect(await page.locator('.links tbody tr').count()).toBe(100);
    await page.getByLabel('Find a dataset').fill(last);
    await page.locator('.links td', { hasText: last }).waitFor();
    expect(await page.locator('.links tbody tr').count()).toBe(1);
    // What is not shown is not asked about.
    expect(asked.size).toBeLessThanOrEqual(101);
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog');
    await palette.getByRole('combobox').fill('set_9');
    await palette.getByRole('option', { name: 'set_9', exact: false }).first().waitFor();
    expect(await palette.getByRole('option').count()).toBeLessThanOrEqual(60);
    await palette.getByRole('combobox').fill(last);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: last, exact: true }).waitFor();
    await page.goto(`${session.origin}/#/sql`);
    await page.waitForSelector('.cm-content');
    await typeSql(page, 'SELECT * FROM ');
    await page.keyboard.type('set_999');
    await page.locator('.cm-tooltip-autocomplete li', { hasText: last }).first().waitFor();
    expect(offences).toEqual([]);
  });

  test('ten thousand columns, the last by keyboard', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, 'SELECT * FROM wide');
    await page.locator('.grid').focus();
    await page.keyboard.press('End');
    await page.locator('[role=columnheader]', { hasText: `c${COLUMN_COUNT - 1}` }).waitFor();
    expect(await page.locator('.grid *').count()).toBeLessThan(1000);
    expect(offences).toEqual([]);
  });

  test('names and cells as text, whatever they hold', async () => {
    const { page, offences } = await openConsole(session, '/data');
    for (const id of IDS) {
      const link = page.locator('.links a', { hasText: id }).first();
      await link.waitFor();
      expect(await page.locator('.links a').allTextContents()).toContain(id);
    }
    for (const id of IDS) {
      await page.goto(`${session.origin}/#/data`);
      await page.locator('.links a', { hasText: id }).getByText(id, { exact: true }).click();
      await page.getByRole('heading', { level: 1, name: id, exact: true }).waitFor();
      expect(await page.locator('.failure').count()).toBe(0);
    }
    const [row = []] = await seenRows(page);
    expect(row).toContain(HOSTILE);
    expect(await page.locator('main img').count()).toBe(0);
    await page.goto(`${session.origin}/#/sql`);
    await page.waitForSelector('.cm-content');
    const quoted = HOSTILE.replaceAll('"', '""');
    await runSql(page, `SELECT whole, none FROM "${quoted}"`);
    expect(await seenRows(page)).toEqual([[String(2 ** 53), 'NaN']]);
    expect(await page.title()).not.toBe('hurt');
    expect(offences).toEqual([]);
  });

  test('integers past 2^53 and bytes exactly', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    const quoted = HOSTILE.replaceAll('"', '""');
    await runSql(page, `SELECT past, most, least, bytes FROM "${quoted}"`);
    const integers = ['9007199254740993', '18446744073709551615', '-9223372036854775808'];
    expect(await seenRows(page)).toEqual([[...integers, '3 bytes: 0102ff']]);
    expect(offences).toEqual([]);
  });

  test('a text of a million letters cut, and whole when it is opened', async () => {
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, `SELECT long FROM "${HOSTILE.replaceAll('"', '""')}"`);
    const [[cut = ''] = []] = await seenRows(page);
    expect(cut).toMatch(/^x{100,300}…?$/);
    await page.locator('.grid-row:not(.grid-head) .grid-cell:not(.grid-number)').first().dblclick();
    await page.getByText('Look into the cell').click();
    const whole = page.locator('dialog pre').first();
    await expect.poll(async () => (await whole.textContent())?.length).toBe(1_000_000);
    expect(offences).toEqual([]);
  });

  test('why the service refuses an export', async () => {
    await send('PUT', '/v1/datasets/gone', { type: 'sparse.mutable' });
    await send('POST', '/v1/datasets/gone/multirows', [['row', [['x', 1, 0]]]]);
    await send('POST', '/v1/datasets/gone/commit', {});
    const { page, offences } = await openConsole(session, '/sql');
    await page.waitForSelector('.cm-content');
    await runSql(page, 'SELECT x FROM gone');
    await session.rowan.perform('DELETE', '/v1/datasets/gone');
    await page.getByTitle('Export all rows as CSV').click();
    await page.getByText(/the export broke off: .*gone/).waitFor();
    expect(offences).toEqual([]);
  });

  test('what uses a dataset among six hundred procedures', async () => {
    await send('PUT', '/v1/datasets/source', { type: 'sparse.mutable' });
    for (let number = 0; number < 600; number++) {
      await send('PUT', `/v1/procedures/p${number}`, { type: 'null' });
    }
    const params = { inputData: 'SELECT * FROM source', outputDataset: 'made' };
    const config = { type: 'transform', params: { ...params, runOnCreation: false } };
    await send('PUT', '/v1/procedures/zz', config);
    const { page, offences } = await openConsole(session, '/data/source?view=used');
    await page.locator('main').getByRole('link', { name: 'zz', exact: true }).waitFor();
    expect(offences).toEqual([]);
  });
});

describe.runIf(canTest('chromium', executablePath))('keys', () => {
  let session: BrowserSession;
  const adminKey = 'the-key-of-the-environment';
  const logged: string[] = [];

  beforeAll(async () => {
    const keep = (details: object, message?: string) => {
      logged.push(`${JSON.stringify(details)} ${message}`);
    };
    const logger = { ...SILENT_LOGGER, info: keep, warn: keep, error: keep };
    session = await startBrowser(executablePath, { adminKey, logger, hasAccessLog: true });
  });

  afterAll(() => session?.close());

  test('are asked for, kept in memory only, and say what one may do', async () => {
    const { page, offences } = await openConsole(session, '/data');
    const dialog = page.getByRole('dialog', { name: 'API key' });
    await dialog.waitFor();
    await dialog.getByLabel('Key', { exact: true }).fill(adminKey);
    await dialog.getByRole('button', { name: 'Use it' }).click();
    await page.getByText('There are no datasets yet').waitFor();
    await page.getByText('New dataset').waitFor();
    const kept = await page.evaluate(
      '[JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), location.href].join()',
    );
    expect(kept).not.toContain(adminKey);
    await page.reload();
    await dialog.waitFor();
    const made = await session.rowan.post<{ id: string; key: string }>('/v1/keys', {
      role: 'reader',
    });
    await dialog.getByLabel('Key', { exact: true }).fill(made.json.key);
    await dialog.getByRole('button', { name: 'Use it' }).click();
    await page.getByText('There are no datasets yet').waitFor();
    await page.getByRole('button', { name: 'reader' }).waitFor();
    expect(await page.getByText('New dataset').count()).toBe(0);
    await session.rowan.delete(`/v1/keys/${made.json.id}`);
    await page.getByRole('link', { name: 'Models' }).click();
    await dialog.waitFor();
    const log = logged.join('\n');
    expect(log).toContain('/v1/datasets');
    for (const key of [adminKey, made.json.key]) expect(log).not.toContain(key);
    expect(offences).toEqual([]);
  });
});
