// What goes wrong around the console: a service that stops, a key that ends, a browser that keeps
// nothing, two windows at the same thing, clocks that differ.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../../src/client/index.ts';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, runSql, seenRows, typeSql } from '../../support/console.ts';
import { ServerProcess } from '../../support/server-process.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();
/** Passes everything on, and ends the connection of a long result after so many bytes of it. */
async function startBreakingProxy(target: string, byteCount: number) {
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, host: new URL(target).host, origin: target };
    const options = { method: incoming.method ?? 'GET', headers };
    const passed = request(target + incoming.url, options, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      let sent = 0;
      reply.on('data', (piece: Buffer) => {
        sent += piece.length;
        outgoing.write(piece);
        if (incoming.url?.startsWith('/v1/query') && sent > byteCount) outgoing.destroy();
      });
      reply.on('end', () => outgoing.end());
      reply.on('error', () => outgoing.destroy());
    });
    passed.on('error', () => outgoing.destroy());
    outgoing.on('close', () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const hasBrowser = canTest('chromium', executablePath);

describe.runIf(hasBrowser)('a service that stops', () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rowan-stop-'));
    browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });

  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('is told, and the run says why it ended once it is back', { timeout: 60_000 }, async () => {
    const args = ['--data-dir', join(folder, 'run')];
    const server = await ServerProcess.start(args);
    const { origin } = server;
    const rowan = connect(origin);
    const params = { durationMs: 60_000 };
    await rowan.put('/v1/procedures/slow', { type: 'mock', params });
    const path = '/v1/procedures/slow/runs';
    const asynchronous = { body: {}, headers: { async: 'true' } };
    const { json } = await rowan.perform<{ id: string }>('POST', path, asynchronous);
    const session = { origin, browser } as BrowserSession;
    const { page } = await openConsole(session, `/runs/slow/${encodeURIComponent(json.id)}`);
    await page.locator('progress').first().waitFor();
    await server.kill();
    await page.getByText('The service cannot be reached').waitFor();
    const again = await ServerProcess.start([...args, '--port', new URL(origin).port]);
    try {
      await page.locator('.state.error').first().waitFor();
      await page
        .getByText(/interrupted|stopped|ended/i)
        .first()
        .waitFor();
      await page.getByText('The service cannot be reached').waitFor({ state: 'detached' });
    } finally {
      await page.context().close();
      await again.kill();
    }
  });
});

describe.runIf(hasBrowser)('around a service that works', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  test('a result that breaks off leaves the rows that came', { timeout: 60_000 }, async () => {
    const rows = Array.from({ length: 200_000 }, (_, row) => row).join('\n');
    const folder = mkdtempSync(join(tmpdir(), 'rowan-broken-'));
    writeFileSync(join(folder, 'rows.csv'), `n\n${rows}\n`);
    const params = {
      dataFileUrl: `file://${join(folder, 'rows.csv')}`,
      outputDataset: 'many',
      runOnCreation: true,
    };
    await session.rowan.put('/v1/procedures/load', { type: 'import.text', params });
    rmSync(folder, { recursive: true });
    const proxy = await startBreakingProxy(session.origin, 100_000);
    const { origin } = proxy;
    const { page } = await openConsole({ ...session, origin }, '/sql');
    await page.waitForSelector('.cm-content');
    await typeSql(page, 'SELECT n FROM many');
    await page.keyboard.press('Control+Enter');
    await page.locator('.failure', { hasText: 'broke off after' }).waitFor();
    await page.locator('.outcome', { hasText: 'broken off' }).waitFor();
    expect((await seenRows(page))[0]).toEqual(['0']);
    await page.context().close();
    proxy.close();
  });

  test('a browser that keeps nothing does all the same', async () => {
    const context = await session.browser.newContext();
    await context.addInitScript(`for (const name of ['indexedDB', 'localStorage', 'sessionStorage'])
      Object.defineProperty(window, name, { get() { throw new DOMException('refused', 'SecurityError'); } });`);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${session.origin}/#/sql`);
    await page.waitForSelector('.cm-content');
    await runSql(page, 'SELECT 1 AS one');
    expect(await seenRows(page)).toEqual([['1']]);
    await page.getByLabel('Theme').selectOption('dark');
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await page.getByRole('button', { name: 'History' }).click();
    await page.locator('.history code', { hasText: 'SELECT 1 AS one' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('two windows at one draft lose neither text', async () => {
    const { page: first, offences } = await openConsole(session, '/sql');
    await first.waitForSelector('.cm-content');
    await typeSql(first, 'SELECT 0');
    const kept = (text: string) =>
      expect
        .poll(() =>
          first.evaluate(`new Promise((done) => {
            const opened = indexedDB.open('rowan-console');
            opened.onsuccess = () => {
              const read = opened.result.transaction('draft').objectStore('draft').getAll();
              read.onsuccess = () => done(read.result.map(({ text }) => text));
            };
          })`),
        )
        .toContain(text);
    await kept('SELECT 0');
    const second = await first.context().newPage();
    await second.goto(`${session.origin}/#/sql`);
    await second.locator('.cm-content', { hasText: 'SELECT 0' }).waitFor();
    await typeSql(first, 'SELECT 1 AS mine');
    await kept('SELECT 1 AS mine');
    await typeSql(second, 'SELECT 2 AS theirs');
    await kept('SELECT 2 AS theirs');
    await kept('SELECT 1 AS mine');
    await second.getByRole('tab', { name: /other window/ }).waitFor();
    expect(offences).toEqual([]);
  });

  test('two windows at one function: the later one is told what changed', async () => {
    const path = '/v1/functions/f';
    const put = (expression: string) =>
      session.rowan.put(path, { type: 'sql.expression', params: { expression } });
    await put('1 AS x');
    const { page, offences } = await openConsole(session, '/models/f');
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByText('It will be replaced').waitFor();
    await put('2 AS x');
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await page.getByLabel('JSON', { exact: true }).fill('{"expression": "3 AS x"}');
    await page.getByRole('button', { name: 'Replace', exact: true }).click();
    await page.getByText('has changed since this form was opened').waitFor();
    const read = async () =>
      (await session.rowan.get<{ config: { params: { expression: string } } }>(path)).json.config
        .params.expression;
    expect(await read()).toBe('2 AS x');
    await page.getByRole('button', { name: 'Replace it all the same' }).click();
    await page.getByRole('heading', { name: 'f', exact: true }).waitFor();
    expect(await read()).toBe('3 AS x');
    expect(offences).toEqual([]);
  });

  test('times are those of the service where the clock of the browser is wrong', async () => {
    await session.rowan.put('/v1/procedures/quick', { type: 'mock', params: { durationMs: 20 } });
    const { page, offences } = await openConsole(session, '/');
    await page.addInitScript(`{
      const Real = Date;
      const shift = 40 * 86400 * 1000;
      window.Date = class extends Real {
        constructor(...given) { given.length === 0 ? super(Real.now() + shift) : super(...given); }
        static now() { return Real.now() + shift; }
      };
    }`);
    await page.reload();
    await page.goto(`${session.origin}/#/runs/quick`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.state.finished').first().waitFor();
    const { json } = await session.rowan.get<{ runStarted: string; runFinished: string }[]>(
      '/v1/runs?procedure=quick&limit=1',
    );
    const [run] = json;
    const took = Date.parse(run?.runFinished ?? '') - Date.parse(run?.runStarted ?? '');
    await page
      .getByText(`${Math.round(took)} ms`)
      .first()
      .waitFor();
    const day = new Date(run?.runStarted ?? '').getDate();
    expect(await page.locator('.definition').first().textContent()).toContain(String(day));
    expect(offences).toEqual([]);
  });
});

describe.runIf(hasBrowser)('a key that ends', () => {
  const adminKey = 'the-key-of-the-environment';
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath, { adminKey });
  });

  afterAll(() => session?.close());

  test('is asked for in the middle of a form, which then goes on', async () => {
    const { page, offences } = await openConsole(session, '/new/functions/sql.expression?id=f');
    const dialog = page.getByRole('dialog', { name: 'API key' });
    const give = async (key: string) => {
      await dialog.getByLabel('Key', { exact: true }).fill(key);
      await dialog.getByRole('button', { name: 'Use it' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    const made = await session.rowan.post<{ id: string; key: string }>('/v1/keys', {
      role: 'editor',
    });
    await dialog.waitFor();
    await give(made.json.key);
    await page.getByRole('button', { name: 'JSON', exact: true }).click();
    await page.getByLabel('JSON', { exact: true }).fill('{"expression": "x + 1 AS y"}');
    await session.rowan.delete(`/v1/keys/${made.json.id}`);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await dialog.waitFor();
    await give(adminKey);
    await page.getByRole('heading', { name: 'f', exact: true }).waitFor();
    const { json } = await session.rowan.get<{ config: { params: unknown } }>('/v1/functions/f');
    expect(json.config.params).toMatchObject({ expression: 'x + 1 AS y' });
    expect(page.url()).not.toContain(adminKey);
    expect(offences).toEqual([]);
    await page.context().close();
  });
});
