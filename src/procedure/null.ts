import { Type } from 'typebox';
import { runOnCreation } from './parameter.ts';
import type { ServiceProcedureType } from './procedure-type.ts';

/** Does nothing. */
export const nullProcedure: ServiceProcedureType = {
  kind: 'procedure',
  name: 'null',
  summary: 'Does nothing; for tests of clients.',
  flags: ['INTERNAL_ENTITY'],
  parameters: Type.Object({ ...runOnCreation }),
  execution: 'service',
  run: async () => ({}),
};
