// Opens the credentials of a service from its options.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { collectBytes } from '../../file/byte-stream.ts';
import type { FileSystem } from '../../file/file-system.ts';
import { failure } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { Logger } from '../logger.ts';
import { ambientRules } from './ambient-credential.ts';
import { parseCredentialRule } from './credential.ts';
import { CredentialStore } from './credential-store.ts';

const DIRECTORY_NAME = '.credentials';

export interface CredentialOptions {
  /** where rules are kept, one a file; default `.credentials` in the data directory */
  readonly credentialsPath?: string | undefined;
  /** rules for this process only: `store` objects */
  readonly credentials?: readonly unknown[];
  /** URLs of further such rules: an array, one object, or objects one after the other */
  readonly credentialUrls?: readonly string[];
}

/** @throws what is wrong with a rule of the options */
export async function openCredentials(
  options: CredentialOptions & { readonly dataDir: string | null },
  logger: Logger,
): Promise<CredentialStore> {
  const { dataDir, credentialsPath } = options;
  const inDataDir = dataDir === null ? undefined : join(dataDir, DIRECTORY_NAME);
  const store = new CredentialStore({
    directory: credentialsPath ?? inDataDir,
    logger,
    ambient: () => ambientRules(process.env, homedir()),
  });
  for (const rule of options.credentials ?? []) store.give(parseCredentialRule(rule));
  await store.load();
  return store;
}

/** Rules that may themselves lie where credentials are needed. @throws what is wrong with them */
export async function fetchCredentials(
  urls: readonly string[],
  store: CredentialStore,
  files: FileSystem,
): Promise<void> {
  for (const url of urls) {
    const text = new TextDecoder().decode(await collectBytes((await files.open(url)).stream()));
    for (const rule of parseRules(text, url)) store.give(parseCredentialRule(rule));
  }
}

/** Never shows the text: it is made of secrets. */
function parseRules(text: string, url: string): unknown[] {
  try {
    return parseValues(text).flat();
  } catch {
    throw failure('INVALID_JSON', `credentials at ${url} are not JSON objects`, { url });
  }
}

/** JSON values one after the other: an object ends where its last brace closes. */
function parseValues(text: string): unknown[] {
  const values: unknown[] = [];
  let start = 0;
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index];
    if (isInString) {
      if (char === '\\') index++;
      else if (char === '"') isInString = false;
    } else if (char === '"') isInString = true;
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) {
      values.push(parseJson(text.slice(start, index + 1)));
      start = index + 1;
    }
  }
  if (text.slice(start).trim() !== '') throw new Error('text after the last object');
  return values;
}
