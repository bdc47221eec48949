// The frame around every page of the documentation.
import { escapeHtml } from '../../util/html.ts';
import { highlightCode } from './highlight.ts';

export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly { readonly text: string; readonly path: string }[];
}

export interface PageContent {
  readonly title: string;
  /** HTML */
  readonly body: string;
}

/**
 * A whole page.
 * @param path below /doc, with its slash; marks the place in the navigation
 * @param base what stands before `/doc` in links
 */
export function renderPage(
  { title, body }: PageContent,
  navigation: readonly NavigationGroup[],
  path: string,
  base: string,
): string {
  const groups = navigation.map(
    (group) => `<h2>${escapeHtml(group.title)}</h2>
<ul>${group.links.map((link) => navigationLink(link, path, base)).join('')}</ul>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)} - Rowan</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escapeHtml(base)}/doc/style.css">
</head>
<body><div class="frame">
<nav><a class="brand" href="${escapeHtml(base)}/doc/">Rowan</a>
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" data-index="${escapeHtml(base)}/doc/search.json" data-base="${escapeHtml(base)}/doc">
<ul id="found" aria-live="polite"></ul>
<input type="checkbox" id="menu"><label for="menu">Contents</label>
<div class="groups">
${groups.join('\n')}
</div>
</nav>
<main>
${highlightCode(body)}
</main>
</div>
<script src="${escapeHtml(base)}/doc/search.js" defer></script>
</body>
</html>
`;
}

function navigationLink(
  link: { readonly text: string; readonly path: string },
  current: string,
  base: string,
): string {
  const mark = link.path === current ? ' aria-current="page"' : '';
  const href = escapeHtml(`${base}/doc${link.path}`);
  return `<li><a href="${href}"${mark}>${escapeHtml(link.text)}</a></li>`;
}

/** A table of cells that are HTML already; nothing when there are no rows. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (rows.length === 0) return '';
  const head = headings.map((text) => `<th>${escapeHtml(text)}</th>`).join('');
  const body = rows.map((row) => {
    const cells = row.map((cell, index) => {
      return `<td data-label="${escapeHtml(headings[index] ?? '')}">${cell}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  return `<table class="fields"><thead><tr>${head}</tr></thead><tbody>\n${body.join('\n')}\n</tbody></table>`;
}

export function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}

/** Plain text in which `marked` parts are code. */
export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
