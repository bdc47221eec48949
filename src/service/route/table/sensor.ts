// What lies below sensors. No type of sensor comes with the service, so there is none to answer,
// but a request still learns whether the sensor or the route is missing.
import { type Route, route } from '../route.ts';
import { unknownResource } from '../router.ts';

const SUB_ROUTES = [
  ['GET', 'routes/*', 'Requests that a sensor answers'],
  ['POST', 'routes/*', 'Requests that a sensor answers'],
  ['PUT', 'routes/*', 'Requests that a sensor answers'],
  ['DELETE', 'routes/*', 'Requests that a sensor answers'],
  ['GET', 'version', 'Where a sensor came from, when that was a repository'],
  ['GET', 'doc/*', 'The documentation of a sensor'],
  ['GET', 'static/*', 'Files of a sensor'],
] as const;

export const SENSOR_ROUTES: readonly Route[] = SUB_ROUTES.map(([verb, path, summary]) =>
  route({
    verb,
    path: `/v1/sensors/:id/${path}`,
    summary,
    role: verb === 'GET' ? 'reader' : 'editor',
    lenient: path !== 'version',
    handle(request, service) {
      service.sensors.get(request.params.id as string);
      throw unknownResource(request.verb, request.path);
    },
  }),
);
