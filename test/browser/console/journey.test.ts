// From a file to a served model, as a newcomer goes: drop, preview, import, look, chart, train, judge,
// try, take along. The pictures of the README and of the guide are made on the way.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole, seenRows } from '../../support/console.ts';
import { projectRoot } from '../../support/project.ts';
import { canTest, findChromium, findProgram } from '../../support/services.ts';

const executablePath = findChromium();

/** With ROWAN_PICTURES=write the pictures of the documents are made anew. */
const writesPictures = process.env.ROWAN_PICTURES === 'write';

describe.runIf(canTest('chromium', executablePath))('from a file to a model', () => {
  let session: BrowserSession;
  let folder: string;
  let csv: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rowan-journey-'));
    session = await startBrowser(executablePath, { dataDir: join(folder, 'data') });
    csv = join(folder, 'strikes.csv');
    const sample = readFileSync(
      join(projectRoot, 'node_modules/vega-datasets/data/birdstrikes.csv'),
      'utf8',
    );
    writeFileSync(csv, sample.split('\n').slice(0, 3001).join('\n'));
  });

  afterAll(async () => {
    await session?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function picture(page: Page, name: string): Promise<void> {
    const path = join(projectRoot, 'docs/guide/picture', `${name}.png`);
    if (writesPictures) await page.screenshot({ path, animations: 'disabled' });
  }

  test('by file chooser, to the score in every language', { timeout: 120_000 }, async () => {
    const { page, offences } = await openConsole(session, '/');
    // The browser hands choosers over from when it is told to, which takes a moment.
    const chosen = page.waitForEvent('filechooser');
    await page.getByText('Train a model').waitFor();
    await page.getByRole('button', { name: 'Choose a file' }).click();
    await (await chosen).setFiles(csv);

    await page.getByRole('heading', { name: 'Import strikes.csv' }).waitFor();
    await page.locator('.preview td', { hasText: 'BARKSDALE' }).first().waitFor();
    expect(await page.getByLabel('Dataset', { exact: true }).inputValue()).toBe('strikes');
    await picture(page, 'import');
    await page.getByRole('button', { name: 'Import', exact: true }).click();

    await page.getByRole('button', { name: 'Look at strikes' }).click();
    await page.getByRole('heading', { name: 'strikes', exact: true }).waitFor();
    expect((await seenRows(page)).length).toBeGreaterThan(10);
    await page.getByRole('tab', { name: 'Profile' }).click();
    await page.locator('.cards .histogram').first().waitFor();
    await picture(page, 'profile');

    await page.getByRole('button', { name: 'Query' }).click();
    await page.locator('.outcome', { hasText: '3,000 rows' }).waitFor();
    await picture(page, 'sql');
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.locator('.picture svg').waitFor();
    await picture(page, 'chart');

    await page.goto(`${session.origin}/#/data/strikes`);
    await page.getByRole('button', { name: 'Train' }).click();
    await page.getByLabel('Predict').selectOption('Effect Amount of damage');
    for (const leaking of ['Cost Other', 'Cost Repair', 'Cost Total $']) {
      await page.getByLabel(leaking, { exact: true }).uncheck();
    }
    await page.getByLabel('Name', { exact: true }).fill('damage');
    await page.getByText('Query and file').click();
    await page.getByLabel('Model file').fill(`file://${join(folder, 'damage.cls')}`);
    await picture(page, 'train');
    await page.getByRole('button', { name: 'Train and test' }).click();

    await page.locator('.curves svg').first().waitFor();
    const shown = Number(await page.locator('.figures strong').first().getAttribute('title'));
    const runs = (await get('/v1/procedures/test_damage/runs')) as string[];
    const run = (await get(`/v1/procedures/test_damage/runs/${runs[0]}`)) as {
      status: { auc: number };
    };
    expect(shown).toBeCloseTo(run.status.auc, 10);
    await picture(page, 'evaluate');

    await page.getByRole('tab', { name: 'Try' }).click();
    await page.getByLabel('Wildlife Size').fill('Large');
    await page.locator('.picture svg').first().waitFor();
    const score = page.locator('[data-score]');
    await page.waitForTimeout(300);
    await picture(page, 'try');
    for (const language of ['curl', 'TypeScript', 'Python']) {
      await page.getByRole('tab', { name: language, exact: true }).click();
      const text = (await page.locator('.take-along pre').textContent()) ?? '';
      const output = await execute(language, text);
      if (output === undefined) continue;
      expect([language, JSON.parse(output).score]).toEqual([
        language,
        Number(await score.getAttribute('data-score')),
      ]);
    }
    expect(offences).toEqual([]);
    await page.context().close();
  });

  test('by dropping a file', { timeout: 60_000 }, async () => {
    const { page, offences } = await openConsole(session, '/');
    const text = 'name,amount\nAda,1.5\nGrace,2\n';
    const transfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File([${JSON.stringify(text)}], 'dropped.csv', { type: 'text/csv' }));
      return transfer;
    })()`);
    await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
    await page.getByRole('heading', { name: 'Import dropped.csv' }).waitFor();
    await page.locator('.preview td', { hasText: 'Grace' }).waitFor();
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('button', { name: 'Look at dropped' }).click();
    expect((await seenRows(page)).map((row) => row.slice(1))).toContainEqual(['Grace', '2']);
    expect(offences).toEqual([]);
    await page.context().close();
  });

  test('to a map of its rows', { timeout: 60_000 }, async () => {
    await put('/v1/procedures/load_birds', {
      type: 'import.text',
      params: { dataFileUrl: `file://${csv}`, outputDataset: 'birds', runOnCreation: true },
    });
    const features = [
      '"Speed IAS in knots" / 80 AS speed',
      ...['Large', 'Medium'].map((size) => `2 * ("Wildlife Size" = '${size}') AS ${size}`),
      ...['Climb', 'Approach', 'Landing Roll', 'Take-off run'].map(
        (phase) => `3 * ("Phase of flight" = '${phase}') AS "${phase}"`,
      ),
      `("Time of day" = 'Day') AS day`,
    ];
    await put('/v1/procedures/lay_out', {
      type: 'umap.train',
      params: {
        trainingData: `SELECT ${features.join(', ')} FROM birds WHERE "Speed IAS in knots" IS NOT NULL AND "Wildlife Size" IS NOT NULL AND "Phase of flight" IS NOT NULL LIMIT 1500`,
        rowOutputDataset: 'birds_map',
        randomSeed: 1,
        runOnCreation: true,
      },
    });
    const place = '/data/birds_map?view=map&of=birds&colour=Phase+of+flight';
    const { page, offences } = await openConsole(session, place);
    await page.locator('.map-legend button', { hasText: 'Approach' }).waitFor();
    await page.locator('.map-canvas canvas').waitFor();
    await picture(page, 'map');
    expect(offences).toEqual([]);
    await page.context().close();
  });

  async function put(path: string, body: unknown): Promise<void> {
    const reply = await fetch(session.origin + path, { method: 'PUT', body: JSON.stringify(body) });
    expect([reply.status, reply.ok ? '' : await reply.text()]).toEqual([201, '']);
  }

  async function get(path: string): Promise<unknown> {
    return (await fetch(session.origin + path)).json();
  }

  /** Runs a snippet as it is. @returns what it printed; undefined where this machine lacks its program */
  async function execute(language: string, text: string): Promise<string | undefined> {
    const commands: Readonly<Record<string, readonly [string, ...string[]]>> = {
      curl: ['bash', '-c', `${text.replace('curl ', 'curl -sS ')}`],
      Python: ['python3', '-c', text],
      TypeScript: [process.execPath, '--input-type=module', '-e', resolved(text)],
    };
    const [program, ...args] = commands[language] as readonly [string, ...string[]];
    const needed = language === 'curl' ? 'curl' : program;
    if (needed !== process.execPath && findProgram(needed) === undefined) return undefined;
    // Not in the foreground: the server that it calls is in this process.
    return (await promisify(execFile)(program, args)).stdout;
  }

  /** The package is not installed beside itself. */
  function resolved(text: string): string {
    return text.replace(
      "'rowan-db/client'",
      JSON.stringify(join(projectRoot, 'dist/client/index.js')),
    );
  }
});
