// Macros in Markdown files of plugins and of a folder given instead of the documentation.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

const MARKDOWN = `# Macros

![](%%config dataset sparse.mutable)
![](%%availabletypes function table)
![](%%doclink import.text procedure)
![](%%type tabular)
![](%%codeexample example.py python)
![](%%codeexample ../outside.py python)
![](%%jsmodule mldb)
![](%%jsmodules) and ![](%%type after)
![](%%nothing like this)

[base]({{HTTP_BASE_URL}}/doc/)
`;

let folder: string;
let rowan: Rowan;
let address: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rowan-macro-'));
  await writeFile(join(folder, 'page.md'), MARKDOWN);
  await writeFile(join(folder, 'example.py'), 'print(1 < 2)\n');
  const main = `plugin.serveDocumentationFolder('/doc', '.')`;
  await writeFile(join(folder, 'main.js'), main);
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ port: 0, docPath: folder, baseUrl: '/at' });
});
afterAll(async () => {
  await rowan?.close();
  await rm(folder, { recursive: true, force: true });
});

function expectPage(html: string): void {
  expect(html).toContain('<th>Parameter</th>');
  expect(html).toContain('href="/at/doc/reference/functions/sql.expression.html"');
  expect(html).toContain('href="/at/doc/reference/procedures/import.text.html">import.text</a>');
  expect(html).toContain('<code>tabular</code>');
  expect(html).toContain('<pre><code class="language-python">print(1 &lt; 2)');
  expect(html).toContain('unknown macro ![](%%codeexample ../outside.py python)');
  expect(html).toContain('/modules/mldb/doc.html');
  expect(html).toContain('<li><code>mldb/unittest</code></li>');
  expect(html).toContain('and <code>after</code>');
  expect(html).toContain('unknown macro ![](%%nothing like this)');
  expect(html).toContain('<a href="/at/doc/">base</a>');
}

test('are expanded in a folder served as documentation', async () => {
  expectPage(await (await fetch(`${address}/doc/page.md.html`)).text());
});

test('lie behind the address that others know', async () => {
  await mkdir(join(folder, 'inner'), { recursive: true });
  const paths = ['/doc', '/doc/inner', '/v1/types/datasets/tabular/doc'];
  const replies = await Promise.all(
    paths.map((path) =>
      fetch(address + path, { redirect: 'manual', headers: { Accept: 'text/html' } }),
    ),
  );
  expect(replies.map(({ headers }) => headers.get('location'))).toEqual([
    ...['/at/doc/', '/at/doc/inner/', '/at/doc/reference/datasets/tabular.html'],
  ]);
});

test('are expanded in the documentation of a plugin', async () => {
  const params = { address: pathToFileURL(folder).href };
  await rowan.put('/v1/plugins/documented', { type: 'javascript', params });
  expectPage((await rowan.get('/v1/plugins/documented/doc/page.md')).text);
  expectPage((await rowan.get('/v1/plugins/documented/routes/doc/page.md.html')).text);
});
