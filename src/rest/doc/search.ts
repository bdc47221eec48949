// Search over the documentation: an index of what has a place, and the script that looks into it.
import { LEARNERS } from '../../learn/learners.ts';
import type { FunctionDeclaration } from '../../plan/function.ts';
import { functionSignature } from '../../plan/type/signature.ts';
import type { Route } from '../../service/route/route.ts';
import { ERRORS } from '../../util/error-catalogue.ts';
import type { NavigationGroup } from './page.ts';
import { familyPath } from './sql-reference.ts';

export interface SearchEntry {
  readonly title: string;
  /** what it is, in a word or two */
  readonly kind: string;
  /** below /doc, with its slash */
  readonly path: string;
  /** further words that find it */
  readonly words: string;
}

export function searchEntries(
  groups: readonly NavigationGroup[],
  functions: readonly FunctionDeclaration[],
  routes: readonly Route[],
): SearchEntry[] {
  return [
    ...groups.flatMap(({ title, links }) =>
      links.map(({ text, path }) => ({ title: text, kind: title, path, words: '' })),
    ),
    ...functions.map((declaration) => ({
      title: functionSignature(declaration),
      kind: 'function',
      path: `${familyPath(declaration.family)}#${encodeURIComponent(declaration.name)}`,
      words: `${(declaration.aliases ?? []).join(' ')} ${declaration.summary}`,
    })),
    ...routes.map(({ verb, path, summary }) => ({
      title: `${verb} ${path}`,
      kind: 'route',
      path: '/api/',
      words: summary,
    })),
    ...LEARNERS.map(({ type, summary, options }) => ({
      title: type,
      kind: 'learner',
      path: '/learners.html',
      words: [summary, ...Object.keys(options.properties)].join(' '),
    })),
    ...Object.entries(ERRORS).map(([code, { status, when }]) => ({
      title: code,
      kind: `error, status ${status}`,
      path: '/errors.html',
      words: `error code ${when}`,
    })),
  ];
}

/** Shows at most a dozen entries below the field, those whose title begins with the words first. */
export const SEARCH_SCRIPT = `
const field = document.querySelector('#search');
const list = document.querySelector('#found');
let entries;
const show = async () => {
  entries ??= await (await fetch(field.dataset.index)).json();
  const words = field.value.toLowerCase().split(/\\s+/).filter((word) => word !== '');
  const rank = ({ title, words: more }) => {
    const name = title.toLowerCase();
    const all = name + ' ' + more.toLowerCase();
    if (!words.every((word) => all.includes(word))) return 0;
    return name.startsWith(words[0]) ? 3 : words.every((word) => name.includes(word)) ? 2 : 1;
  };
  const found = words.length === 0 ? [] : entries
    .map((entry) => [rank(entry), entry])
    .filter(([place]) => place > 0)
    .sort(([a], [b]) => b - a)
    .slice(0, 12);
  list.replaceChildren(...found.map(([, { title, kind, path }]) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = field.dataset.base + path;
    link.textContent = title;
    const note = document.createElement('span');
    note.className = 'dim';
    note.textContent = ' ' + kind;
    item.append(link, note);
    return item;
  }));
};
field.addEventListener('input', () => void show());
field.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') list.querySelector('a')?.click();
});
`;
