// Queries of a test with all builtins.
import { DEFAULT_OUTPUT } from '../../src/exec/output/options.ts';
import { writeQuery } from '../../src/exec/query.ts';
import type { Catalog } from '../../src/plan/catalog.ts';
import type { CallHost } from '../../src/plan/function.ts';
import { collect } from './query.ts';

/** The JSON text of the single value of `SELECT <selected>`. */
export function writeAtom(selected: string, catalog: Catalog, host?: CallHost): string {
  const scope = { checkCancelled: () => undefined, host };
  return collect((emit) =>
    writeQuery(`SELECT ${selected}`, {
      catalog,
      scope,
      format: 'atom',
      output: DEFAULT_OUTPUT,
      emit,
    }),
  );
}
