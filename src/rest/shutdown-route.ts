// Ends the server from afar.
import { jsonReply } from '../service/route/request.ts';
import { type Route, route } from '../service/route/route.ts';

/** @param shutDown called after the reply was given */
export function shutdownRoute(shutDown: () => void): Route {
  return route({
    verb: 'POST',
    path: '/v1/shutdown',
    summary: 'Ends the server once requests in flight are answered',
    role: 'admin',
    reply: { description: '{"shutdown": true}' },
    handle() {
      setImmediate(shutDown);
      return jsonReply({ shutdown: true });
    },
  });
}
