import { expect, test } from 'vitest';
import { renderMarkdown } from '../../../../src/service/route/markdown.ts';

test('a page has the title of its file', () => {
  const page = renderMarkdown('# A & B\n\n| x |\n|---|\n| 1 |\n\n```js\n1 < 2\n```');
  expect(page).toContain('<title>A &amp; B</title>');
  expect(page).toContain('<td>1</td>');
  expect(page).toContain('1 &lt; 2');
});

test('links lead to pages, and out of them beside them', () => {
  const page = renderMarkdown('[a](b.md#c) [d](https://example.org/e.md)');
  expect(page).toContain('<a href="b.md.html#c">a</a>');
  expect(page).toContain('<a href="https://example.org/e.md" target="_blank" rel="noopener">d</a>');
});

test('TeX passes through', () => {
  const page = renderMarkdown('so $$a_1 * b_2 * c$$ and \\\\(x_1*y*\\\\)');
  expect(page).toContain('$$a_1 * b_2 * c$$');
  expect(page).toContain('\\(x_1*y*\\)');
});
