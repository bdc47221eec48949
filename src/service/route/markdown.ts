// Markdown files as HTML pages.
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../../util/html.ts';

/** A whole page; links to Markdown files lead to their pages, links elsewhere open beside it. */
export function renderMarkdown(markdown: string, expandMacro?: MacroExpander): string {
  const { title, body } = renderFragment(markdown, expandMacro);
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body>
${body}</body>
</html>
`;
}

/** The title of a document and its HTML, to be put into a page. */
export function renderFragment(
  markdown: string,
  expandMacro: MacroExpander = unknownMacro,
): { title: string; body: string } {
  const math: string[] = [];
  const expanded = expandMacros(markdown, expandMacro);
  const body = pages.parse(hideMath(expanded, math), { async: false });
  const title = /^#\s+(.+)$/m.exec(markdown)?.[1]?.trim() ?? 'Documentation';
  return { title, body: showMath(body, math) };
}

/** Gives the HTML of the macro `![](%%name args)`, undefined for a macro that it does not know. */
export type MacroExpander = (name: string, args: string) => string | undefined;

const unknownMacro: MacroExpander = () => undefined;

function expandMacros(markdown: string, expand: MacroExpander): string {
  return markdown.replace(/!\[\]\(%%([^\s)]+)((?:\s+[^)]*)?)\)/g, (macro, name, args) => {
    const html = expand(name as string, (args as string).trim());
    return html ?? `<span class="error">unknown macro ${escapeHtml(macro as string)}</span>`;
  });
}

const pages = new Marked({
  gfm: true,
  renderer: {
    link(token: Tokens.Link): string {
      const isElsewhere = /^[a-z][a-z0-9+.-]*:/i.test(token.href);
      const href = isElsewhere ? token.href : token.href.replace(/\.md(?=$|[?#])/, '.md.html');
      const target = isElsewhere ? ' target="_blank" rel="noopener"' : '';
      const title = token.title ? ` title="${escapeHtml(token.title)}"` : '';
      const text = this.parser.parseInline(token.tokens);
      return `<a href="${escapeHtml(href)}"${title}${target}>${text}</a>`;
    },
  },
});

/** TeX is not Markdown: `\\( … \\)` and `$$ … $$` pass through untouched. */
function hideMath(markdown: string, math: string[]): string {
  return markdown.replace(/\\\\\([\s\S]*?\\\\\)|\$\$[\s\S]*?\$\$/g, (tex) => {
    math.push(tex.startsWith('$$') ? tex : `\\(${tex.slice(3, -3)}\\)`);
    return `\u0002${math.length - 1}\u0003`;
  });
}

function showMath(html: string, math: readonly string[]): string {
  return html.replace(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the marks that hideMath has left
    /\u0002(\d+)\u0003/g,
    (_mark, index) => `<span class="math">${escapeHtml(math[Number(index)] ?? '')}</span>`,
  );
}
