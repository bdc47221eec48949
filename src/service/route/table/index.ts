// All routes of the service; plugins and transports add theirs.
import { ENTITY_KINDS } from '../../../dataset/entity-type.ts';
import type { Route } from '../route.ts';
import { CREDENTIAL_ROUTES } from './credential.ts';
import { DATASET_ROUTES } from './dataset.ts';
import { entityRoutes } from './entity.ts';
import { FUNCTION_ROUTES } from './function.ts';
import { GENERAL_ROUTES } from './general.ts';
import { LANGUAGE_ROUTES } from './language.ts';
import { QUERY_ROUTES } from './query.ts';
import { RUN_ROUTES } from './run.ts';
import { SENSOR_ROUTES } from './sensor.ts';
import { TYPE_ROUTES } from './type.ts';
import { UPLOAD_ROUTES } from './upload.ts';
import { WATCH_ROUTES } from './watch.ts';

export const ROUTES: readonly Route[] = [
  ...ENTITY_KINDS.flatMap(entityRoutes),
  ...CREDENTIAL_ROUTES,
  ...DATASET_ROUTES,
  ...FUNCTION_ROUTES,
  ...RUN_ROUTES,
  ...QUERY_ROUTES,
  ...LANGUAGE_ROUTES,
  ...SENSOR_ROUTES,
  ...TYPE_ROUTES,
  ...UPLOAD_ROUTES,
  ...WATCH_ROUTES,
  ...GENERAL_ROUTES,
];
