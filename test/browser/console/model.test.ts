// One threshold through all views of a model, and forms that give the JSON of their types.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type BrowserSession, startBrowser } from '../../support/browser.ts';
import { openConsole } from '../../support/console.ts';
import { fillStore } from '../../support/console-store.ts';
import { canTest, findChromium } from '../../support/services.ts';

const executablePath = findChromium();

interface TestedRow {
  readonly score: number;
  readonly label: number;
}

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly examples?: readonly unknown[] }>>;
}

describe.runIf(canTest('chromium', executablePath))('models and forms', () => {
  let session: BrowserSession;

  beforeAll(async () => {
    session = await startBrowser(executablePath);
    await fillStore(session);
  });

  afterEach(async () => {
    for (const context of session.browser.contexts()) await context.close();
  });

  afterAll(() => session?.close());

  test('confusion and curves follow one threshold, and a cell opens its rows', async () => {
    const rows = await session.rowan
      .query<TestedRow>('SELECT score, label FROM likely_tested')
      .rows();
    const scores = [...new Set(rows.map(({ score }) => score))].sort((a, b) => a - b);
    const threshold = scores[Math.floor(scores.length / 3)] as number;
    const count = (label: number, isPredicted: boolean) =>
      rows.filter((row) => row.label === label && row.score >= threshold === isPredicted).length;
    const place = `/models/likely?view=evaluate&threshold=${threshold}`;
    const { page, offences } = await openConsole(session, place);
    const cells = page.locator('.confusion strong');
    await cells.first().waitFor();
    expect((await cells.allTextContents()).map(Number)).toEqual([
      count(1, true),
      count(1, false),
      count(0, true),
      count(0, false),
    ]);
    const recall = count(1, true) / (count(1, true) + count(1, false));
    const figures = await page.locator('.figures strong').allTextContents();
    expect(figures[2]).toBe(recall.toFixed(3));
    await page.getByTitle('Show the false positives (false alarms)').click();
    const found = count(0, true);
    await page.locator('.outcome', { hasText: `${found} row` }).waitFor();
    expect(offences).toEqual([]);
  });

  test('importance is measured on the rows of the test and shown again', async () => {
    const { page, offences } = await openConsole(session, '/models/likely?view=evaluate');
    await page.getByRole('button', { name: 'Measure importance' }).click();
    const bars = page.getByRole('table', { name: 'Importance of the features' });
    await bars.waitFor();
    const { json: runs } = await session.rowan.get<{ id: string }[]>(
      '/v1/runs?procedure=importance_likely',
    );
    const path = `/v1/procedures/importance_likely/runs/${runs[0]?.id}`;
    const { json: run } = await session.rowan.get<{
      status: { features: [string, number, number][] };
    }>(path);
    const expected = run.status.features.map(([name]) => name);
    expect(expected.length).toBe(3);
    expect(await bars.locator('th').allTextContents()).toEqual(expected);
    await page.reload();
    await bars.waitFor();
    await page.getByText('On which rows').click();
    await page.locator('code', { hasText: 'WHERE rowHash() % 3 = 0' }).last().waitFor();
    await page.getByRole('tab', { name: 'Card' }).click();
    await page.getByRole('link', { name: 'train_likely' }).waitFor();
    expect(offences).toEqual([]);
  });

  test('a card of the service is shown in full, and not missed where there is none', async () => {
    const { page, offences } = await openConsole(session, '/models');
    const card = {
      ...{ kind: 'classifier', mode: 'boolean', algorithm: 'gbt', configuration: { depth: 4 } },
      trainingQuery: 'SELECT {*} AS features, y AS label FROM people',
      datasets: [{ id: 'people', rowCount: 300, latestTimestamp: null }],
      rows: { used: 200, skippedNullLabel: 7 },
      labelDistribution: [
        ['<img src=x onerror=alert(1)>', 120],
        [false, 80],
      ],
      features: [{ name: 'age', type: 'number', missing: 0.25, distinct: 50, min: 20, max: 69 }],
      ...{ metrics: { auc: 0.75 }, randomSeed: 7, createdAt: '2024-05-06T07:08:09Z' },
      ...{ durationSecs: 2.5, rowanVersion: '0.1.0', parentProcedure: 'train_likely', runId: 'r1' },
    };
    await page.route('**/v1/functions/likely/card', (route) => route.fulfill({ json: card }));
    await page.goto(`${session.origin}/#/models/likely`);
    for (const words of ['gbt, boolean', '7 without a label left out', '25 %', '0.75', '2.5 s']) {
      await page.getByText(words).first().waitFor();
    }
    await page.getByText('<img src=x onerror=alert(1)>').waitFor();
    await page.route('**/v1/functions/likely/card', (route) =>
      route.fulfill({ status: 404, json: { error: 'no card', httpCode: 404, code: 'NOT_FOUND' } }),
    );
    await page.reload();
    await page.getByRole('heading', { name: 'Configuration' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Training', exact: true }).count()).toBe(0);
    expect(offences).toEqual([]);
  });

  test('the form of each type gives the JSON of its examples', { timeout: 90_000 }, async () => {
    const { page, offences } = await openConsole(session, '/new');
    for (const kind of ['datasets', 'procedures', 'functions', 'plugins']) {
      const types = (await session.rowan.get<string[]>(`/v1/types/${kind}`)).json;
      for (const type of types) {
        const path = `/v1/types/${kind}/${type}/info`;
        const { configSchema } = (await session.rowan.get<{ configSchema: Schema }>(path)).json;
        const params = Object.fromEntries(
          Object.entries(configSchema.properties ?? {}).flatMap(([name, { examples }]) =>
            examples?.[0] === undefined ? [] : [[name, examples[0]]],
          ),
        );
        const query = new URLSearchParams({ id: 'example', params: JSON.stringify(params) });
        await page.goto(`${session.origin}/#/new/${kind}/${type}?${query}`);
        await page.getByRole('button', { name: 'JSON', exact: true }).click();
        const text = await page.getByLabel('JSON', { exact: true }).inputValue();
        expect([type, JSON.parse(text)]).toEqual([type, params]);
      }
    }
    expect(offences).toEqual([]);
  });

  test('the parts of an explanation sum to the score', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rowan-explain-'));
    const modelFileUrl = `file://${join(folder, 'explained.cls')}`;
    const training = {
      type: 'randomforest.binary.train',
      params: {
        trainingData: 'SELECT {age, income, city} AS features, member = 1 AS label FROM people',
        ...{ modelFileUrl, functionName: 'explained', runOnCreation: true },
      },
    };
    expect((await session.rowan.put('/v1/procedures/explainable', training)).status).toBe(201);
    const { page, offences } = await openConsole(session, '/models/explained?view=try');
    await page.getByRole('button', { name: 'Explain the score' }).click();
    const sum = page.locator('.bars tr', { hasText: 'sum' }).locator('strong');
    await sum.waitFor();
    const score = Number(await page.locator('[data-score]').getAttribute('data-score'));
    expect(Number(await sum.textContent())).toBeCloseTo(score, 4);
    expect(offences).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test('an error of the service stands at its field', async () => {
    const { page } = await openConsole(session, '/new/procedures/kmeans.train');
    await page.getByLabel('Id', { exact: true }).fill('wrong');
    await page.getByText('more with').first().click();
    const field = page.locator('[data-path="params.numClusters"]');
    await field.locator('input').fill('many');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.locator('.failure').waitFor();
    await page.locator('.field.wrong').first().waitFor();
  });
});
