// The guide as the server shows it: every page is there, and every link of it leads somewhere.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { projectFiles } from '../../support/project.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
});
afterAll(() => rowan?.close());

const pages = projectFiles(/^docs\/guide\/[^/]+\.md$/).map((file) => `${file.slice(4)}.html`);

test('the start page leads to all pages', async () => {
  const { text } = await rowan.get('/doc/');
  expect(pages.length).toBeGreaterThan(5);
  expect(pages.filter((page) => !text.includes(`href="/doc${page}"`))).toEqual([]);
});

test.each(pages)('%s has links that lead somewhere', async (page) => {
  const place = `/doc${page}`;
  const { status, text } = await rowan.get(place);
  expect(status).toBe(200);
  expect(text).not.toContain('class="error"');
  const links = [...text.matchAll(/href="([^"#]+)/g)].map(([, href]) => href as string);
  const own = links.filter((href) => !/^[a-z]+:/.test(href));
  const targets = new Set(own.map((href) => new URL(href, `http://server${place}`).pathname));
  const dead: string[] = [];
  for (const target of targets) if ((await rowan.get(target)).status !== 200) dead.push(target);
  expect(dead).toEqual([]);
});
