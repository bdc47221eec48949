// The page of learners in the documentation that a server brings along.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;
let address: string;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ port: 0 });
});
afterAll(() => rowan?.close());

async function pageAt(path: string): Promise<string> {
  const reply = await fetch(new URL(path, `${address}/doc/`));
  expect(reply.status).toBe(200);
  return reply.text();
}

test.each(['classifier.train', 'classifier.experiment'])('%s leads to it', async (type) => {
  const path = `/doc/reference/procedures/${type}.html`;
  const link = /<code>configuration<\/code>.*<a href="([^"]+)">/.exec(await pageAt(path))?.[1];
  const page = await pageAt(new URL(link ?? 'no link', address + path).pathname);
  expect(page).toContain('decision_tree</h2>');
  expect(page).toMatch(
    /<code>random_feature_propn<\/code><\/td>\s*<td[^>]*>a number above 0 to 1</,
  );
});

test('the search finds a learner by the name of an option', async () => {
  const entries = (await (await fetch(`${address}/doc/search.json`)).json()) as {
    title: string;
    path: string;
    words: string;
  }[];
  const found = entries.filter(({ words }) => words.includes('random_feature_propn'));
  expect(found).toEqual([
    expect.objectContaining({ title: 'decision_tree', path: '/learners.html' }),
  ]);
});

test('the page of a forest tells the ranges of its options', async () => {
  const page = await pageAt('/doc/reference/procedures/randomforest.binary.train.html');
  expect(page).toMatch(/<code>featureVectorSamplingProp<\/code>.*number, above 0, at most 1/);
});
