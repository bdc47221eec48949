// The description of all routes, as a route.
import { jsonReply } from '../../service/request.ts';
import { type Route, route } from '../../service/route.ts';
import type { OpenApiOptions } from './document.ts';

/**
 * @param options read when the document is made; it is made again when they are others
 * @param routes all routes of the service
 */
export function openApiRoute(options: () => OpenApiOptions, routes: () => readonly Route[]): Route {
  let known: { readonly document: unknown; readonly options: OpenApiOptions } | undefined;
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
        known = { options: current, document: openApiDocument(routes(), service.types, current) };
      }
      return jsonReply(known.document);
    },
  });
}
