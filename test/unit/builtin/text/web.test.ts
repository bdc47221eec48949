import { describe, expect, test } from 'vitest';
import { compileSelector } from '../../../../src/builtin/text/css-selector.ts';
import { hostOf, linksOfHtml, textOfHtml } from '../../../../src/builtin/text/web.ts';
import { jsonOf, resultOf } from '../../../support/builtin-query.ts';

test.each([
  ['http://user:pass@Host.org:80/path', 'host.org'],
  ['https://x.y?q=http://z', 'x.y'],
  ['ftp://[::1]:21/', '[::1]'],
  ['file:///tmp/x', ''],
])('the host of %s is %s', (url, host) => {
  expect(hostOf(url)).toBe(host);
});

test.each([
  ["extract_domain('http://localhost/', {removeSubdomain: 1})", 'localhost'],
  ["extract_domain('http://[::1]/', {removeSubdomain: 1})", '[::1]'],
  ["extract_domain('http://a.b.c/', {removeSubdomain: 0})", 'a.b.c'],
  ['extract_domain(null)', null],
  ['extract_text(null)', null],
  ["extract_text('a&amp;b&#33;<!-- c --><br/>\n d')", 'a&b!\n d'],
])('%s', (expression, expected) => {
  expect(resultOf(expression)).toBe(expected);
});

test('unknown options and bad selectors are refused', () => {
  expect(() => resultOf("extract_domain('http://a', {subdomain: 1})")).toThrow('Unknown field');
  expect(() => resultOf("extract_links('', {selector: 'a:hover'})")).toThrow('unsupported CSS');
});

describe('links', () => {
  const page = `<ul id="menu" class="top wide"><li><a href="1.html">one</a></li>
    <li class="x"><a>two</a></li></ul><A HREF="3.html" class="x y">three</A>`;

  test.each([
    ['*', ['1.html', '', '3.html']],
    ['a', ['1.html', '', '3.html']],
    ['#menu a', ['1.html', '']],
    ['ul.top.wide li a', ['1.html', '']],
    ['li.x a', ['']],
    ['a.x.y', ['3.html']],
    ['li', []],
    ['#menu .x a, a.y', ['', '3.html']],
    ['li ul a', []],
  ])('that match %s', (selector, expected) => {
    expect(linksOfHtml(page, compileSelector(selector))).toEqual(expected);
  });

  test('come as a vector', () => {
    expect(jsonOf(`extract_links('<a href="x">y</a>', {selector: 'p a'})`)).toBe('[]');
    expect(textOfHtml(page).replace(/\s+/g, ' ')).toBe('one twothree');
  });
});
