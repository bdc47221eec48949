// Documentation and static files.
import { resolve } from 'node:path';
import type { Reply } from '../../service/route/request.ts';
import { type BoundRequest, type Route, route } from '../../service/route/route.ts';
import { type PageTools, serveFile } from '../../service/route/static-folder.ts';
import type { Service } from '../../service/service.ts';
import type { DocumentationSite, SiteOptions } from './site.ts';

export interface DocumentationOptions extends SiteOptions {
  /** a folder served instead of the documentation that comes with the service */
  readonly docPath: string | undefined;
  readonly assetsPath: string | undefined;
  readonly hasConsole: boolean;
}

const REDIRECTED = ['/autodoc', '/autodoc/*'];

/** Pages are made by code that nothing else needs, so it is loaded for the first of them. */
const loadSite = () => import('./site.ts');

/** What this documentation does for pages of other folders. */
export async function pageTools(
  { types }: Service,
  { baseUrl }: DocumentationOptions,
  root: string,
): Promise<PageTools> {
  const { macroExpander } = await import('./macro.ts');
  return { baseUrl, expandMacro: macroExpander({ types, root, base: () => baseUrl }) };
}

/** @param options read at each request: a server that listens sets them after the routes exist */
export function documentationRoutes(
  options: () => DocumentationOptions,
  allRoutes: () => readonly Route[],
): Route[] {
  let site: { readonly made: DocumentationSite; readonly for: DocumentationOptions } | undefined;

  const serveSite = async (request: BoundRequest, service: Service): Promise<Reply> => {
    const { DocumentationSite } = await loadSite();
    const current = options();
    if (site === undefined || site.for !== current) {
      site = {
        made: new DocumentationSite(service.types, allRoutes(), current),
        for: current,
      };
    }
    return site.made.serve(
      request.params.rest as string,
      request.headers['if-none-match'],
      request.headers.accept,
    );
  };

  const serveFolder = async (
    root: string,
    request: BoundRequest,
    service: Service,
  ): Promise<Reply> => {
    const path = resolve(root);
    const folder = { root: path, rendersMarkdown: true, ...(await service.pageTools(path)) };
    return serveFile(folder, request.params.rest as string, request);
  };

  const redirect = (location: string, status: number) => () => ({
    status,
    headers: { Location: `${options().baseUrl}${location}` },
  });

  return [
    route({
      verb: 'GET',
      path: '/doc',
      summary: 'Redirects to the documentation',
      role: 'open',
      lenient: true,
      reply: { description: 'redirection to /doc/' },
      handle: redirect('/doc/', 301),
    }),
    route({
      verb: 'GET',
      path: '/doc/*',
      summary: 'The documentation: guide, reference, and a page to try routes on',
      role: 'open',
      lenient: true,
      reply: { description: 'a page or file', contentTypes: ['*/*'] },
      handle(request, service) {
        const { docPath } = options();
        return docPath === undefined
          ? serveSite(request, service)
          : serveFolder(docPath, request, service);
      },
    }),
    route({
      verb: 'GET',
      path: '/resources/*',
      summary: 'Static files',
      role: 'open',
      lenient: true,
      reply: { description: 'a file', contentTypes: ['*/*'] },
      handle(request, service) {
        const { assetsPath } = options();
        const name = (request.params.rest as string).replace(/^\//, '');
        if (assetsPath !== undefined) return serveFolder(assetsPath, request, service);
        return { status: 404, text: `File '${name}' doesn't exist` };
      },
    }),
    ...REDIRECTED.map((path) =>
      route({
        verb: 'GET',
        path,
        summary: 'Redirects to the documentation',
        role: 'open',
        lenient: true,
        reply: { description: 'redirection to /doc/' },
        handle: redirect('/doc/', 302),
      }),
    ),
  ];
}
