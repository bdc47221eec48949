// The whole path in one process, without HTTP: import, query, train, test, serve. After
// `npm run build`, `node examples/story.mjs` plays it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { open } from 'rowan-db';

/** FAA wildlife strike records, as the package vega-datasets ships them. */
const STRIKES = new URL('../node_modules/vega-datasets/data/birdstrikes.csv', import.meta.url).href;

const LABEL = `"Effect Amount of damage" != 'None'`;
const FEATURES = `{"Phase of flight", "Wildlife Size", "Wildlife Species", "Speed IAS in knots"}`;

/** @returns {Promise<{auc: number, score: number}>} the area under the curve on held-out rows, and the score of one strike */
export async function story() {
  const workDir = await mkdtemp(join(tmpdir(), 'rowan-story-'));
  const rowan = await open({ dataDir: null });
  try {
    await run('load', 'import.text', {
      dataFileUrl: STRIKES,
      outputDataset: 'strikes',
    });
    const phases = rowan.query(
      'SELECT "Phase of flight" AS phase, count(*) AS strikes FROM strikes GROUP BY "Phase of flight"',
    );
    for await (const { phase, strikes } of phases) console.log(phase, strikes);

    await run('train', 'randomforest.binary.train', {
      trainingData: `SELECT ${FEATURES} AS features, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 != 0`,
      modelFileUrl: String(pathToFileURL(join(workDir, 'damage.cls'))),
      functionName: 'damage',
    });
    const { auc } = await run('test', 'classifier.test', {
      testingData: `SELECT damage({features: {*}})[score] AS score, ${LABEL} AS label FROM strikes WHERE rowHash() % 5 = 0`,
    });

    const damage = rowan.functions.get('damage');
    const features = { 'Wildlife Size': 'Large', 'Phase of flight': 'Climb' };
    const { score } = await damage.apply({ features });
    console.log({ auc, score });
    return { auc, score };
  } finally {
    await rowan.close();
    await rm(workDir, { recursive: true, force: true });
  }

  /** Creates a procedure, runs it and gives its results. */
  async function run(id, type, params) {
    const procedure = await rowan.createProcedure({ id, type, params });
    return (await procedure.run()).results;
  }
}

if (process.argv[1] === import.meta.filename) await story();
