// Queries of a test with all builtins.
import { builtinCatalog } from '../../src/builtin/index.ts';
import { DEFAULT_OUTPUT } from '../../src/exec/output/options.ts';
import { writeQuery } from '../../src/exec/write-query.ts';
import type { Catalog } from '../../src/plan/catalog.ts';
import type { CallHost } from '../../src/plan/function.ts';
import { MemoryCatalog } from './memory-catalog.ts';
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

/** The value of `SELECT <expression>` with the builtins alone, parsed. */
export function resultOf(expression: string): unknown {
  return JSON.parse(writeAtom(expression, new MemoryCatalog(builtinCatalog)));
}

/** The same as compact JSON text, whatever its shape. */
export function jsonOf(expression: string): unknown {
  return resultOf(`print_json(${expression})`);
}
