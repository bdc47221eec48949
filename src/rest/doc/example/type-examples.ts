// The example of each type that comes with the service.
import type { EntityType } from '../../../dataset/entity-type.ts';
import { DATASET_EXAMPLES } from './dataset.ts';
import type { ExampleRequest, TypeExamples } from './example.ts';
import { FUNCTION_EXAMPLES } from './function.ts';
import { PROCEDURE_EXAMPLES } from './procedure.ts';

const PLUGIN_EXAMPLES: TypeExamples = {
  javascript: {
    params: { source: { main: 'plugin.setRequestHandler((path) => ({ path }))' } },
  },
};

const EXAMPLES: Readonly<Record<EntityType['kind'], TypeExamples>> = {
  dataset: DATASET_EXAMPLES,
  function: FUNCTION_EXAMPLES,
  procedure: PROCEDURE_EXAMPLES,
  plugin: PLUGIN_EXAMPLES,
  sensor: {},
};

/** Requests that create an entity of the type on an empty service, in order; none are known: []. */
export function exampleRequests({ kind, name }: EntityType): ExampleRequest[] {
  const example = EXAMPLES[kind][name];
  if (example === undefined) return [];
  const { before = [], params, after = [] } = example;
  const body = { type: name, params };
  return [...before, { verb: 'PUT', path: `/v1/${kind}s/example`, body }, ...after];
}
