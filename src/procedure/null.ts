import { Type } from 'typebox';
import { runOnCreation } from './parameter.ts';
import { serviceProcedure } from './procedure-type.ts';

/** Does nothing. */
export const nullProcedure = serviceProcedure({
  name: 'null',
  summary: 'Does nothing; for tests of clients.',
  flags: ['INTERNAL_ENTITY'],
  parameters: Type.Object({ ...runOnCreation }),
  run: async () => ({}),
});
