import { Type } from 'typebox';
import { type EntityReference, entityReference } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { previewJson } from '../value/json.ts';
import { runOnCreation } from './parameter.ts';
import { serviceProcedure } from './procedure-type.ts';

interface Leaf {
  readonly path: readonly string[];
  readonly alternatives: readonly unknown[];
}

/** Runs a procedure with every combination of some parameters. */
export const permuterRun = serviceProcedure({
  name: 'permuter.run',
  summary: 'Runs a procedure once for each combination of alternative parameters.',
  parameters: Type.Object({
    procedure: Type.Unsafe<EntityReference>({
      ...entityReference('procedure', {
        description:
          'the procedure to run; what each run made is registered when that run ends, and stays when a later one fails',
      }),
      rowan: undefined,
    }),
    permutations: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description:
        'mirrors the parameters of the procedure; leaves are arrays of alternatives, `$permutation` in a text is `permutation_<number>`',
    }),
    ...runOnCreation,
  }),
  async run(context, params) {
    const child = params.procedure;
    const configurations = permute(child.params ?? {}, params.permutations);
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }]);
    progress.next();
    const { count } = configurations;
    const first = count > 0 ? configurations.at(0) : {};
    const procedure = await context.obtain('procedure', {
      ...child,
      params: { ...first, runOnCreation: false },
    });
    const results: unknown[] = [];
    for (let index = 0; index < count; index++) {
      const configuration = configurations.at(index);
      const outcome = await context.runProcedure(procedure.id, configuration);
      results.push({ configuration, results: outcome.result ?? null });
      progress.update((index + 1) / count);
    }
    progress.finish();
    return { result: results };
  },
});

/** All combinations in the order of nested loops over the leaves; the last leaf varies fastest. */
export interface Permutations {
  readonly count: number;
  /** @param index from 0 */
  at(index: number): Record<string, unknown>;
}

/** Combinations are made when they are asked for: there can be very many. */
export function permute(
  params: Readonly<Record<string, unknown>>,
  permutations: unknown,
): Permutations {
  const leaves = leavesOf(permutations, []);
  return {
    count: leaves.reduce((product, leaf) => product * leaf.alternatives.length, 1),
    at(index) {
      const combination = structuredClone(params) as Record<string, unknown>;
      let rest = index;
      for (const { path, alternatives } of [...leaves].reverse()) {
        setAt(combination, path, alternatives[rest % alternatives.length]);
        rest = Math.floor(rest / alternatives.length);
      }
      return replaceText(combination, `permutation_${index + 1}`) as Record<string, unknown>;
    },
  };
}

function leavesOf(permutations: unknown, path: readonly string[]): Leaf[] {
  if (Array.isArray(permutations)) return [{ path, alternatives: permutations }];
  if (typeof permutations === 'string') {
    throw failure(
      'INVALID_PARAMETER',
      `Invalid data type for permutation ${path.join('.')}: ${previewJson(permutations)}; accepted are arrays of alternatives`,
    );
  }
  if (typeof permutations !== 'object' || permutations === null) {
    throw failure(
      'INVALID_PARAMETER',
      `unsupported type! permutation ${path.join('.')} is ${previewJson(permutations)}; accepted are arrays of alternatives`,
    );
  }
  const members = permutations as Record<string, unknown>;
  return Object.keys(members)
    .sort()
    .flatMap((key) => leavesOf(members[key], [...path, key]));
}

function setAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let object = target;
  for (const key of path.slice(0, -1)) {
    const next = object[key];
    if (typeof next !== 'object' || next === null || Array.isArray(next)) object[key] = {};
    object = object[key] as Record<string, unknown>;
  }
  object[path.at(-1) as string] = structuredClone(value);
}

function replaceText(value: unknown, name: string): unknown {
  if (typeof value === 'string') return value.replaceAll('$permutation', name);
  if (Array.isArray(value)) return value.map((element) => replaceText(element, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, replaceText(member, name)]),
  );
}
