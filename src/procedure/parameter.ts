// Parameters that every procedure type has.
import { Type } from 'typebox';

/** Spread into the parameters of each procedure type. */
export const runOnCreation = {
  runOnCreation: Type.Optional(
    Type.Boolean({
      description: 'whether the procedure is run when it is created; the server sets the default',
    }),
  ),
};
