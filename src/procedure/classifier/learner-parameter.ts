// Parameters that choose a learner, of the procedures that train with any of them.
import { Type } from 'typebox';
import { url } from '../../schema/declare.ts';

export const learnerParameters = {
  algorithm: Type.String({
    description: 'dot path of the entry in the configuration; empty: the configuration itself',
    default: '',
  }),
  configuration: Type.Optional(
    Type.Unsafe<unknown>({
      anyOf: [{ type: 'object' }, { type: 'null' }],
      description: 'a learner and its options; instead of configurationFile',
      page: '/learners.html',
    }),
  ),
  configurationFile: Type.Optional(
    url({ description: 'JSON file of named configurations; default: the bundled ones' }),
  ),
};
