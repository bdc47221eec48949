// The SQL builtins as one catalogue.
import { blobFunctions } from '../builtin/blob.ts';
import { embeddingFunctions } from '../builtin/embedding.ts';
import { encodingFunctions } from '../builtin/encoding.ts';
import { geographyFunctions } from '../builtin/geography.ts';
import { hashFunctions } from '../builtin/hash.ts';
import { jsonFunctions } from '../builtin/json.ts';
import { numericFunctions } from '../builtin/numeric.ts';
import { pathFunctions } from '../builtin/path.ts';
import { regexFunctions } from '../builtin/regex.ts';
import { replacingFunctions } from '../builtin/replacing.ts';
import { setFunctions } from '../builtin/set.ts';
import { signalFunctions } from '../builtin/signal.ts';
import { stringFunctions } from '../builtin/string.ts';
import { timeFunctions } from '../builtin/time.ts';
import { tokenFunctions } from '../builtin/token.ts';
import { trigonometricFunctions } from '../builtin/trigonometric.ts';
import { vectorFunctions } from '../builtin/vector.ts';
import type { FunctionCatalog, FunctionDeclaration } from '../plan/function.ts';

const byName = new Map<string, FunctionDeclaration>();
for (const declaration of [
  ...blobFunctions,
  ...embeddingFunctions,
  ...encodingFunctions,
  ...geographyFunctions,
  ...hashFunctions,
  ...jsonFunctions,
  ...numericFunctions,
  ...pathFunctions,
  ...regexFunctions,
  ...replacingFunctions,
  ...setFunctions,
  ...signalFunctions,
  ...stringFunctions,
  ...timeFunctions,
  ...tokenFunctions,
  ...trigonometricFunctions,
  ...vectorFunctions,
]) {
  for (const name of [declaration.name, ...(declaration.aliases ?? [])]) {
    byName.set(name, declaration);
  }
}

export const BUILTINS: FunctionCatalog = {
  findFunction: (name) => byName.get(name),
  functionNames: () => [...byName.keys()],
};
