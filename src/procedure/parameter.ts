// Parameters that every procedure type has.
import { Type } from 'typebox';
import { LINE_BYTES_MAX } from '../format/csv/line-reader.ts';

/** Spread into the parameters of each procedure type. */
export const runOnCreation = {
  runOnCreation: Type.Optional(
    Type.Boolean({
      description: 'whether the procedure is run when it is created; the server sets the default',
    }),
  ),
};

/** The longest line that an import of lines takes. */
export const maxLineBytes = {
  maxLineBytes: Type.Integer({
    description: 'bytes of a line, at most; a longer one ends the import',
    default: LINE_BYTES_MAX,
    minimum: 1,
    maximum: 2 ** 28,
  }),
};
