// The whole path in one process, without HTTP: import, query, train, test, serve.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { open } from 'rowan-db';

/** FAA wildlife strike records, as the package vega-datasets ships them. */
const STRIKES = new URL('../node_modules/vega-datasets/data/birdstrikes.csv', import.meta.url).href;

const LABEL = `"Effect Amount of damage" != 'None'`;
const FEATURES = `{"Phase of flight", "Wildlife Size", "Wildlife Species", "Speed IAS in knots"}`;

/** @returns the area under the curve on held-out rows, and the score of one strike */
export async function story(): Promise<{ auc: number; score: number }> {
  const workDir = await mkdtemp(join(tmpdir(), 'rowan-story-'));
  const rowan = await open({ dataDir: null });
  try {
    await run('load', 'import.text', {
      dataFileUrl: STRIKES,
      outputDataset: 'strikes',
    });
    const [, ...phases] = (await rowan.query(
      'SELECT "Phase of flight" AS phase, count(*) AS strikes FROM strikes GROUP BY "Phase of flight"',
    )) as unknown[][];
    console.log(phases);

    await run('train', 'randomforest.binary.train', {
      trainingData: `SELECT ${FEATURES} AS features, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 != 0`,
      modelFileUrl: String(pathToFileURL(join(workDir, 'damage.cls'))),
      functionName: 'damage',
    });
    const test = await run('test', 'classifier.test', {
      testingData: `SELECT damage({features: {*}})[score] AS score, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 = 0`,
    });
    const { auc } = test as { auc: number };

    const input = { features: { 'Wildlife Size': 'Large', 'Phase of flight': 'Climb' } };
    const reply = await rowan.get('/v1/functions/damage/application', {
      input: JSON.stringify(input),
    });
    const { score } = (reply.json as { output: { score: number } }).output;
    console.log({ auc, score });
    return { auc, score };
  } finally {
    await rowan.close();
    await rm(workDir, { recursive: true, force: true });
  }

  async function run(id: string, type: string, params: Record<string, unknown>): Promise<unknown> {
    const reply = await rowan.put(`/v1/procedures/${id}`, {
      type,
      params: { ...params, runOnCreation: true },
    });
    if (reply.status !== 201) throw new Error(reply.text);
    return (reply.json as { status: { firstRun: { status?: unknown } } }).status.firstRun.status;
  }
}

if (process.argv[1] === import.meta.filename) await story();
