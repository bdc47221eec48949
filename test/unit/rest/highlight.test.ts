import fc from 'fast-check';
import { expect, test } from 'vitest';
import { highlightCode } from '../../../src/rest/doc/highlight.ts';
import { escapeHtml } from '../../../src/util/html.ts';

const block = (language: string, text: string) =>
  `<p>1</p><pre><code class="language-${language}">${escapeHtml(text)}</code></pre>`;

test('words, texts, names, numbers and comments of SQL', () => {
  expect(highlightCode(block('sql', `select "a<b", 'it''s' -- it\nFROM t LIMIT 10`))).toBe(
    '<p>1</p><pre><code class="language-sql"><span class="word">select</span> <span class="key">&quot;a&lt;b&quot;</span>, ' +
      `<span class="text">'it''s'</span> <span class="comment">-- it</span>\n` +
      '<span class="word">FROM</span> t <span class="word">LIMIT</span> <span class="number">10</span></code></pre>',
  );
});

test('keys, texts and numbers of JSON', () => {
  const html = highlightCode(block('json', '{"a": ["b", -1.5e3, true]}'));
  expect(html).toContain(
    '{<span class="key">&quot;a&quot;</span>: [<span class="text">&quot;b&quot;',
  );
  expect(html).toContain('<span class="number">-1.5e3</span>, <span class="word">true</span>]}');
});

test('other languages stay as they are', () => {
  const html = block('sh', 'curl "x" 1');
  expect(highlightCode(html)).toBe(html);
});

test('no text is lost or becomes markup', () => {
  const text = fc.string({ unit: fc.constantFrom(...`ab1 "'<>&;-/*\n\\{}:SELECT`) });
  fc.assert(
    fc.property(fc.constantFrom('sql', 'json'), text, (language, code) => {
      const marked = highlightCode(block(language, code));
      expect(marked.replace(/<span class="\w+">|<\/span>/g, '')).toBe(block(language, code));
    }),
  );
});
