// The builtins by name: what the binder finds, the manual lists and the console completes.
import type { FunctionDeclaration, FunctionNamespace } from '../plan/function.ts';
import { assert } from '../util/assert.ts';
import { aggregateFunctions } from './aggregate/aggregate.ts';
import { rowAggregateFunctions } from './aggregate/row-aggregate.ts';
import { statisticFunctions } from './aggregate/statistic.ts';
import { windowFunctions } from './aggregate/window.ts';
import { blobFunctions } from './blob/blob.ts';
import { conditionalFunctions } from './conditional.ts';
import { geographyFunctions } from './geography/geography.ts';
import { hashFunctions } from './hash.ts';
import { horizontalFunctions } from './horizontal.ts';
import { introspectionFunctions } from './introspection.ts';
import { jsonFunctions } from './json.ts';
import { numberFunctions } from './number.ts';
import { numericFunctions } from './numeric.ts';
import { pathFunctions } from './path.ts';
import { scriptFunctions } from './script.ts';
import { setFunctions } from './set.ts';
import { encodingFunctions } from './text/encoding.ts';
import { patternFunctions } from './text/pattern-text.ts';
import { regexFunctions } from './text/regex.ts';
import { replacingFunctions } from './text/replacing.ts';
import { stringFunctions } from './text/string.ts';
import { textFunctions } from './text/text.ts';
import { tokenFunctions } from './text/token.ts';
import { webFunctions } from './text/web.ts';
import { dateFunctions } from './time/date.ts';
import { momentFunctions } from './time/moment.ts';
import { temporalFunctions } from './time/temporal.ts';
import { timeFunctions } from './time/time.ts';
import { trigonometricFunctions } from './trigonometric.ts';
import { embeddingFunctions } from './vector/embedding.ts';
import { signalFunctions } from './vector/signal.ts';
import { vectorFunctions } from './vector/vector.ts';

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
export const builtinNamespace: FunctionNamespace = {
  findFunction: (name) => byName.get(name),
  findInAnyCase: (name) => byLowerName.get(name.toLowerCase()),
  functionNames: () => names,
};

/** Without those that ask the service for something while they run. */
export const selfContainedNamespace: FunctionNamespace = {
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
