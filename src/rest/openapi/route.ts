// The description of all routes, as a route.
import { type Route, route } from '../../service/route/route.ts';
import type { OpenApiOptions } from './document.ts';

/**
 * @param options read when the document is made; it is made again when they are others
 * @param routes all routes of the service
 */
export function openApiRoute(options: () => OpenApiOptions, routes: () => readonly Route[]): Route {
  let known: { readonly text: string; readonly options: OpenApiOptions } | undefined;
  return route({
    verb: 'GET',
    path: '/openapi.json',
    summary: 'This description of all routes, as OpenAPI 3.1',
    role: 'open',
    lenient: true,
    reply: { description: 'an OpenAPI document' },
    async handle(_request, service) {
      const { openApiDocument } = await import('./document.ts');
      const current = options();
      if (known?.options !== current) {
        const document = openApiDocument(routes(), service.types, current);
        known = { options: current, text: JSON.stringify(document) };
      }
      return { status: 200, contentType: 'application/json', text: known.text };
    },
  });
}
