// All entity types that come with the service, in every thread.
import { DATASET_TYPES } from '../../dataset/built-in.ts';
import type { EntityType } from '../../dataset/entity-type.ts';
import { FUNCTION_TYPES } from '../../function/built-in.ts';
import { PROCEDURE_TYPES } from '../../procedure/built-in.ts';

export const BUILT_IN_TYPES: readonly EntityType[] = [
  ...DATASET_TYPES,
  ...FUNCTION_TYPES,
  ...PROCEDURE_TYPES,
];
