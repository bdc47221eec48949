// Queries of a test with all builtins.
import { builtinNamespace } from '../../src/builtin/index.ts';
import { DEFAULT_OUTPUT } from '../../src/exec/output/options.ts';
import { writeQuery } from '../../src/exec/write-query.ts';
import type { CallHost } from '../../src/plan/function.ts';
import type { Namespace } from '../../src/plan/namespace.ts';
import { MemoryNamespace } from './memory-namespace.ts';
import { collect } from './query.ts';

/** The JSON text of the single value of `SELECT <selected>`. */
export function writeAtom(selected: string, namespace: Namespace, host?: CallHost): string {
  const scope = { checkCancelled: () => undefined, host };
  return collect((emit) =>
    writeQuery(`SELECT ${selected}`, {
      namespace,
      scope,
      format: 'atom',
      output: DEFAULT_OUTPUT,
      emit,
    }),
  );
}

/** The value of `SELECT <expression>` with the builtins alone, parsed. */
export function resultOf(expression: string): unknown {
  return JSON.parse(writeAtom(expression, new MemoryNamespace(builtinNamespace)));
}

/** The same as compact JSON text, whatever its shape. */
export function jsonOf(expression: string): unknown {
  return resultOf(`print_json(${expression})`);
}
