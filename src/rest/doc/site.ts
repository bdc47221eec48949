// The documentation that comes with the service: guide, reference, and the page to try routes on.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { BUILTIN_FUNCTIONS } from '../../builtin/index.ts';
import type { TypeRegistry } from '../../service/entity/type-registry.ts';
import { renderFragment } from '../../service/route/markdown.ts';
import { prefersPage } from '../../service/route/negotiation.ts';
import type { Reply } from '../../service/route/request.ts';
import type { Route } from '../../service/route/route.ts';
import { escapeHtml } from '../../util/html.ts';
import { apiPage, apiScript } from './api-page.ts';
import { errorReference } from './error-reference.ts';
import { guideFiles, guidePicture } from './guide.ts';
import { learnerReference } from './learner-reference.ts';
import { macroExpander } from './macro.ts';
import { optionReference } from './option-reference.ts';
import { type NavigationGroup, type PageContent, renderPage } from './page.ts';
import { SEARCH_SCRIPT, searchEntries } from './search.ts';
import { familyPage, familyPath, functionFamilies, functionIndexPage } from './sql-reference.ts';
import { STYLE } from './style.ts';
import { trainerReference } from './trainer-reference.ts';
import { DOCUMENTED_KINDS, documentedTypes, typePage, typePath } from './type-reference.ts';

export interface SiteOptions {
  /** what stands before `/doc` in links */
  readonly baseUrl: string;
  readonly hidesInternalEntities: boolean;
}

const HTML = 'text/html; charset=utf-8';

/** Nothing but this server, whatever a page says; the script of the API page evaluates templates. */
const POLICY =
  "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; " +
  "font-src 'self' data:; script-src 'self' 'unsafe-inline' 'unsafe-eval'; worker-src 'self' blob:";

type MakePage = () => PageContent;

export class DocumentationSite {
  readonly #options: SiteOptions;
  readonly #pages = new Map<string, MakePage>();
  readonly #navigation: readonly NavigationGroup[];
  /** pages that were asked for; what they are made of does not change */
  readonly #made = new Map<string, Reply>();

  readonly #routes: readonly Route[];

  constructor(types: TypeRegistry, routes: readonly Route[], options: SiteOptions) {
    this.#options = options;
    this.#routes = routes;
    this.#navigation = this.#collect(types);
  }

  /**
   * @param rest path below /doc, with its slash, not decoded
   * @param ifNoneMatch tag of the page that the caller has
   * @param accept what the caller takes: those who take pages get one where there is nothing
   */
  serve(rest: string, ifNoneMatch: string | undefined, accept = ''): Reply {
    const path = rest.split('/').map(decodeElement).map(encodeURIComponent).join('/');
    if (path === '/api/scalar.js') return apiScript();
    const picture = guidePicture(path);
    if (picture !== undefined) return picture;
    const reply = this.#made.get(path) ?? this.#make(path);
    if (reply.status === 404 && prefersPage(accept)) return this.#missingPage(path);
    if (ifNoneMatch !== undefined && ifNoneMatch === reply.headers?.ETag) {
      return { status: 304, headers: reply.headers };
    }
    return reply;
  }

  #make(path: string): Reply {
    const { baseUrl } = this.#options;
    let reply: Reply;
    if (path === '/style.css') reply = tagged('text/css; charset=utf-8', STYLE);
    else if (path === '/search.js') reply = tagged('text/javascript; charset=utf-8', SEARCH_SCRIPT);
    else if (path === '/search.json') {
      const entries = searchEntries(this.#navigation, BUILTIN_FUNCTIONS, this.#routes);
      reply = tagged('application/json', JSON.stringify(entries));
    } else if (path === '/api/') reply = tagged(HTML, apiPage(baseUrl));
    else if (path === '/api') return { status: 301, headers: { Location: `${baseUrl}/doc/api/` } };
    else {
      const make = this.#pages.get(path === '/index.html' ? '/' : path);
      if (make === undefined) return missing(path);
      reply = tagged(HTML, renderPage(make(), this.#navigation, path, baseUrl));
    }
    this.#made.set(path, reply);
    return reply;
  }

  /** Leads on who followed a link that leads nowhere. */
  #missingPage(path: string): Reply {
    const { baseUrl } = this.#options;
    const { text: words = '' } = missing(path);
    const body = `<h1>There is no such page</h1>
<p>${escapeHtml(words)}. Search on the left, or begin at the <a href="${escapeHtml(baseUrl)}/doc/">start</a>.</p>`;
    const text = renderPage({ title: 'Not found', body }, this.#navigation, path, baseUrl);
    return { status: 404, contentType: HTML, text };
  }

  #collect(types: TypeRegistry): NavigationGroup[] {
    const groups: NavigationGroup[] = [];
    const { hidesInternalEntities, baseUrl } = this.#options;
    const expand = macroExpander({ types, base: () => baseUrl });
    const guide = guideFiles().map(({ path, file, title }) => {
      this.#pages.set(path, () => renderFragment(readFileSync(file, 'utf8'), expand));
      return { text: title, path };
    });
    if (guide.length > 0) groups.push({ title: 'Guide', links: guide });
    const errors = { text: 'Errors', path: '/errors.html' };
    this.#pages.set(errors.path, () => renderFragment(errorReference()));
    const options = { text: 'Options of the server', path: '/options.html' };
    this.#pages.set(options.path, () => renderFragment(optionReference()));
    const learners = { text: 'Learners and their options', path: '/learners.html' };
    this.#pages.set(learners.path, () => renderFragment(learnerReference()));
    const trainers = { text: 'Trainers and their functions', path: '/trainers.html' };
    this.#pages.set(trainers.path, () => renderFragment(trainerReference()));
    const api = { text: 'Try the API', path: '/api/' };
    groups.push({ title: 'REST', links: [api, errors, options] });
    for (const kind of DOCUMENTED_KINDS) {
      const links = documentedTypes(types, kind, hidesInternalEntities).map((type) => {
        this.#pages.set(typePath(type), () => typePage(type));
        return { text: type.name, path: typePath(type) };
      });
      if (kind === 'procedure') links.push(learners, trainers);
      if (links.length > 0) groups.push({ title: `${capitalised(kind)} types`, links });
    }
    const families = [...functionFamilies(BUILTIN_FUNCTIONS)].map(([family, functions]) => {
      this.#pages.set(familyPath(family), () => familyPage(family, functions));
      return { text: family, path: familyPath(family) };
    });
    this.#pages.set('/sql/', () => functionIndexPage(BUILTIN_FUNCTIONS));
    const index = { text: 'all functions', path: '/sql/' };
    groups.push({ title: 'SQL functions', links: [index, ...families] });
    this.#pages.set('/', () => startPage(groups, baseUrl));
    return groups;
  }
}

function startPage(groups: readonly NavigationGroup[], base: string): PageContent {
  const cards = groups.map(({ title, links }) => {
    const items = links.map(
      ({ text, path }) => `<a href="${escapeHtml(`${base}/doc${path}`)}">${escapeHtml(text)}</a>`,
    );
    return `<li><strong>${escapeHtml(title)}</strong><br>${items.join(', ')}</li>`;
  });
  return {
    title: 'Documentation',
    body: `<h1>Rowan</h1>
<p>A machine-learning data service: bring data in, shape it with SQL, train models on it, and call
them as functions, all over one REST interface.</p>
<ul class="cards">
${cards.join('\n')}
</ul>`,
  };
}

function tagged(contentType: string, text: string): Reply {
  const tag = createHash('sha256').update(text).digest('base64url').slice(0, 22);
  const headers: Record<string, string> = { ETag: `"${tag}"`, 'Cache-Control': 'no-cache' };
  if (contentType === HTML) headers['Content-Security-Policy'] = POLICY;
  return { status: 200, contentType, headers, text };
}

function missing(path: string): Reply {
  const text = path.includes('..')
    ? 'not dealing with path with .. in it'
    : `File '${path.slice(1)}' doesn't exist`;
  return {
    status: path.includes('..') ? 400 : 404,
    contentType: 'text/plain; charset=utf-8',
    text,
  };
}

function decodeElement(element: string): string {
  try {
    return decodeURIComponent(element);
  } catch {
    return element;
  }
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
