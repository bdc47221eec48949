// The builtins by name: what the binder finds, the manual lists and the console completes.
import type { FunctionCatalog, FunctionDeclaration } from '../plan/function.ts';
import { assert } from '../util/assert.ts';
import { aggregateFunctions } from './aggregate.ts';
import { blobFunctions } from './blob.ts';
import { conditionalFunctions } from './conditional.ts';
import { dateFunctions } from './date.ts';
import { embeddingFunctions } from './embedding.ts';
import { encodingFunctions } from './encoding.ts';
import { geographyFunctions } from './geography.ts';
import { hashFunctions } from './hash.ts';
import { horizontalFunctions } from './horizontal.ts';
import { introspectionFunctions } from './introspection.ts';
import { jsonFunctions } from './json.ts';
import { momentFunctions } from './moment.ts';
import { numberFunctions } from './number.ts';
import { numericFunctions } from './numeric.ts';
import { pathFunctions } from './path.ts';
import { patternFunctions } from './pattern-text.ts';
import { regexFunctions } from './regex.ts';
import { replacingFunctions } from './replacing.ts';
import { rowAggregateFunctions } from './row-aggregate.ts';
import { scriptFunctions } from './script.ts';
import { setFunctions } from './set.ts';
import { signalFunctions } from './signal.ts';
import { statisticFunctions } from './statistic.ts';
import { stringFunctions } from './string.ts';
import { temporalFunctions } from './temporal.ts';
import { textFunctions } from './text.ts';
import { timeFunctions } from './time.ts';
import { tokenFunctions } from './token.ts';
import { trigonometricFunctions } from './trigonometric.ts';
import { vectorFunctions } from './vector.ts';
import { webFunctions } from './web.ts';
import { windowFunctions } from './window.ts';

/** Every builtin once, family by family, in the order of the manual. */
export const BUILTIN_FUNCTIONS: readonly FunctionDeclaration[] = [
  ...numericFunctions,
  ...numberFunctions,
  ...replacingFunctions,
  ...trigonometricFunctions,
  ...stringFunctions,
  ...textFunctions,
  ...regexFunctions,
  ...patternFunctions,
  ...tokenFunctions,
  ...encodingFunctions,
  ...hashFunctions,
  ...jsonFunctions,
  ...pathFunctions,
  ...timeFunctions,
  ...dateFunctions,
  ...conditionalFunctions,
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
  ...statisticFunctions,
  ...momentFunctions,
  ...windowFunctions,
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

/** By name in lower case; names of several functions are told apart by their exact names only. */
const byLowerName = new Map<string, FunctionDeclaration | undefined>();
for (const [name, declaration] of byName) {
  const lower = name.toLowerCase();
  const known = byLowerName.get(lower);
  byLowerName.set(lower, known === undefined || known === declaration ? declaration : undefined);
}

/** Aliases are names of their own. */
export const builtinCatalog: FunctionCatalog = {
  findFunction: (name) => byName.get(name),
  findInAnyCase: (name) => byLowerName.get(name.toLowerCase()),
  functionNames: () => names,
};

/** Without those that ask the service for something while they run. */
export const selfContainedCatalog: FunctionCatalog = {
  findFunction: (name) => {
    const found = byName.get(name);
    return found?.reachesHost === true ? undefined : found;
  },
  findInAnyCase: (name) => {
    const found = byLowerName.get(name.toLowerCase());
    return found?.reachesHost === true ? undefined : found;
  },
  functionNames: () => names.filter((name) => byName.get(name)?.reachesHost !== true),
};
