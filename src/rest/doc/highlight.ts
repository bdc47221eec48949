// SQL and JSON in colour: words, texts, numbers and comments of code blocks, marked on the server.
import { KEYWORDS } from '../../sql/keyword.ts';
import { escapeHtml } from '../../util/html.ts';

type Mark = 'word' | 'text' | 'number' | 'comment' | 'key';

interface Language {
  readonly token: RegExp;
  /** undefined: nothing to show */
  markOf(token: string, behind: string): Mark | undefined;
}

const NUMBER = String.raw`-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b`;

const SQL: Language = {
  token: new RegExp(
    String.raw`--[^\n]*|/\*[\s\S]*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|${NUMBER}|[A-Za-z_]\w*`,
    'g',
  ),
  markOf(token) {
    if (token.startsWith('--') || token.startsWith('/*')) return 'comment';
    if (token.startsWith("'")) return 'text';
    if (token.startsWith('"')) return 'key';
    if (/^-?\d/.test(token)) return 'number';
    return KEYWORDS.has(token.toUpperCase()) ? 'word' : undefined;
  },
};

const JSON_TEXT: Language = {
  token: new RegExp(String.raw`"(?:[^"\\]|\\.)*"|${NUMBER}|\b(?:true|false|null)\b`, 'g'),
  markOf(token, behind) {
    if (token.startsWith('"')) return /^\s*:/.test(behind) ? 'key' : 'text';
    return /^[tfn]/.test(token) ? 'word' : 'number';
  },
};

const LANGUAGES: Readonly<Record<string, Language>> = { sql: SQL, json: JSON_TEXT };

const BLOCK = /<code class="language-(sql|json)">([\s\S]*?)<\/code>/g;

/** The HTML of a page whose code blocks of known languages have their tokens marked. */
export function highlightCode(html: string): string {
  return html.replace(BLOCK, (_block, name: string, escaped: string) => {
    const marked = markTokens(unescapeHtml(escaped), LANGUAGES[name] as Language);
    return `<code class="language-${name}">${marked}</code>`;
  });
}

function markTokens(text: string, language: Language): string {
  let html = '';
  let end = 0;
  for (const { 0: token, index } of text.matchAll(language.token)) {
    const mark = language.markOf(token, text.slice(index + token.length, index + token.length + 8));
    html += escapeHtml(text.slice(end, index));
    html +=
      mark === undefined ? escapeHtml(token) : `<span class="${mark}">${escapeHtml(token)}</span>`;
    end = index + token.length;
  }
  return html + escapeHtml(text.slice(end));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

function unescapeHtml(html: string): string {
  return html.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] as string);
}
