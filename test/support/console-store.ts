// A small store with one of everything, for tests of the console.
import type { BrowserSession } from './browser.ts';

const ROW_COUNT = 300;
const CITIES = ['Oslo', 'Lima', 'Kyiv', 'Bonn'];

/**
 * A dataset `people`, the model `likely` with its test, the map `people_map` of the function
 * `people_place`, a plugin `hello`. @throws what was refused
 */
export async function fillStore({ rowan }: BrowserSession): Promise<void> {
  const send = async (verb: string, path: string, body: unknown) => {
    const { status, text } = await rowan.perform(verb, path, { body });
    if (status >= 300) throw new Error(`${verb} ${path}: ${status} ${text}`);
  };
  await send('PUT', '/v1/datasets/people', { type: 'sparse.mutable' });
  await send('POST', '/v1/datasets/people/multirows', people());
  await send('POST', '/v1/datasets/people/commit', {});
  await send('PUT', '/v1/procedures/train_likely', {
    type: 'randomforest.binary.train',
    params: {
      trainingData:
        'SELECT {age, income, city} AS features, member = 1 AS label FROM people WHERE rowHash() % 3 != 0',
      modelFileUrl: 'mem://likely.cls',
      functionName: 'likely',
      runOnCreation: true,
    },
  });
  await send('PUT', '/v1/procedures/test_likely', {
    type: 'classifier.test',
    params: {
      testingData:
        'SELECT likely({features: {*}})[score] AS score, member = 1 AS label FROM people WHERE rowHash() % 3 = 0',
      outputDataset: 'likely_tested',
      runOnCreation: true,
    },
  });
  await send('PUT', '/v1/procedures/train_place', {
    type: 'svd.train',
    params: {
      trainingData: 'SELECT age, income FROM people',
      rowOutputDataset: 'people_map',
      modelFileUrl: 'mem://place.svd',
      numSingularValues: 2,
      functionName: 'people_place',
      runOnCreation: true,
    },
  });
  await send('PUT', '/v1/plugins/hello', {
    type: 'javascript',
    params: { source: { main: 'plugin.setRequestHandler(() => ({ hello: "there" }));' } },
  });
}

function people(): unknown[] {
  return Array.from({ length: ROW_COUNT }, (_, index) => {
    const age = 20 + ((index * 37) % 50);
    const income = 1000 + ((index * 7919) % 4000) + age * 30;
    const member = income + ((index * 131) % 900) > 4600 ? 1 : 0;
    const cells = { age, income: income / 4, city: CITIES[index % CITIES.length], member };
    return [`p${index}`, Object.entries(cells).map(([name, value]) => [name, value, index])];
  });
}
