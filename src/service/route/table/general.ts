// Help, versions and signs of life.
import { Type } from 'typebox';
import { packageVersion } from '../../../util/package-file.ts';
import { jsonReply } from '../request.ts';
import { type Route, route } from '../route.ts';

export const SERVICE_VERSION = packageVersion();

export const GENERAL_ROUTES: readonly Route[] = [
  route({
    verb: 'GET',
    path: '/v1/help',
    summary: 'Lists all routes',
    role: 'reader',
    lenient: true,
    query: {
      autodoc: Type.Optional(
        Type.String({ description: 'given: in the form for documentation tools' }),
      ),
    },
    handle: (request, { dispatcher }) =>
      jsonReply(request.values.autodoc === undefined ? dispatcher.help() : dispatcher.autodoc()),
  }),
  route({
    verb: 'GET',
    path: '/info',
    summary: 'The versions of the interface',
    role: 'reader',
    lenient: true,
    handle: () => jsonReply({ apiVersions: { v1: '1.0.0' } }),
  }),
  route({
    verb: 'GET',
    path: '/ping',
    summary: 'Answers "1"',
    role: 'open',
    lenient: true,
    handle: () => jsonReply('1'),
  }),
  route({
    verb: 'GET',
    path: '/v1/health',
    summary: 'Tells whether the service works',
    role: 'open',
    lenient: true,
    handle(_request, service) {
      const { status, members } = service.health();
      return jsonReply(
        {
          status,
          version: SERVICE_VERSION,
          uptimeSeconds: Math.round(process.uptime() * 1000) / 1000,
          ready: status === 'ok',
          ...members,
        },
        status === 'ok' ? 200 : 503,
      );
    },
  }),
];
