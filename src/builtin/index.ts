// The builtins by name: what the binder finds, the manual lists and the console completes.
import type { FunctionCatalog, FunctionDeclaration } from '../plan/function.ts';
import { assert } from '../util/assert.ts';
import { aggregateFunctions } from './aggregate.ts';
import { blobFunctions } from './blob.ts';
import { embeddingFunctions } from './embedding.ts';
import { encodingFunctions } from './encoding.ts';
import { geographyFunctions } from './geography.ts';
import { hashFunctions } from './hash.ts';
import { horizontalFunctions } from './horizontal.ts';
import { introspectionFunctions } from './introspection.ts';
import { jsonFunctions } from './json.ts';
import { numericFunctions } from './numeric.ts';
import { pathFunctions } from './path.ts';
import { regexFunctions } from './regex.ts';
import { replacingFunctions } from './replacing.ts';
import { rowAggregateFunctions } from './row-aggregate.ts';
import { scriptFunctions } from './script.ts';
import { setFunctions } from './set.ts';
import { signalFunctions } from './signal.ts';
import { stringFunctions } from './string.ts';
import { temporalFunctions } from './temporal.ts';
import { timeFunctions } from './time.ts';
import { tokenFunctions } from './token.ts';
import { trigonometricFunctions } from './trigonometric.ts';
import { vectorFunctions } from './vector.ts';
import { webFunctions } from './web.ts';

/** Every builtin once, family by family, in the order of the manual. */
export const BUILTIN_FUNCTIONS: readonly FunctionDeclaration[] = [
  ...numericFunctions,
  ...replacingFunctions,
  ...trigonometricFunctions,
  ...stringFunctions,
  ...regexFunctions,
  ...tokenFunctions,
  ...encodingFunctions,
  ...hashFunctions,
  ...jsonFunctions,
  ...pathFunctions,
  ...timeFunctions,
  ...setFunctions,
  ...vectorFunctions,
  ...embeddingFunctions,
  ...signalFunctions,
  ...geographyFunctions,
  ...blobFunctions,
  ...webFunctions,
  ...horizontalFunctions,
  ...temporalFunctions,
  ...aggregateFunctions,
  ...rowAggregateFunctions,
  ...scriptFunctions,
  ...introspectionFunctions,
];

const byName = new Map<string, FunctionDeclaration>();
for (const declaration of BUILTIN_FUNCTIONS) {
  for (const name of [declaration.name, ...(declaration.aliases ?? [])]) {
    assert(!byName.has(name), `builtin ${name} is declared twice`);
    byName.set(name, declaration);
  }
}

const names = [...byName.keys()].sort();

/** Names are case sensitive; aliases are names of their own. */
export const builtinCatalog: FunctionCatalog = {
  findFunction: (name) => byName.get(name),
  functionNames: () => names,
};

/** Without those that ask the service for something while they run. */
export const selfContainedCatalog: FunctionCatalog = {
  findFunction: (name) => {
    const found = byName.get(name);
    return found?.reachesHost === true ? undefined : found;
  },
  functionNames: () => names.filter((name) => byName.get(name)?.reachesHost !== true),
};
