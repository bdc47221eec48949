// Algorithm configurations: a tree of named objects from which one is picked and read.
import { failure } from '../util/error.ts';

type Json = Readonly<Record<string, unknown>>;

/** Entries that a configuration file need not repeat. */
export const BUNDLED_CONFIGURATIONS: Json = {
  dt: { type: 'decision_tree', max_depth: 8, update_alg: 'prob' },
};

export interface PickedConfiguration {
  readonly type: string;
  /** option values; a missing one is inherited from the enclosing objects */
  readonly options: ReadonlyMap<string, unknown>;
  /** dot path of the entry, empty for the root */
  readonly path: string;
  /** keys of the entry itself */
  readonly ownKeys: readonly string[];
}

const ALIAS_DEPTH_MAX = 10;

/**
 * Finds the entry at a dot path; a text in its place is the name of another entry.
 * @throws INVALID_PARAMETER when there is no entry, or it has no type
 */
export function pickConfiguration(document: unknown, algorithm: string): PickedConfiguration {
  let path = algorithm;
  for (let depth = 0; depth <= ALIAS_DEPTH_MAX; depth++) {
    const chain = follow(document, path);
    const entry = chain.at(-1);
    if (typeof entry === 'string') {
      path = entry;
      continue;
    }
    if (!isObject(entry) || typeof entry.type !== 'string') {
      const key = path === '' ? 'type' : `${path}.type`;
      throw invalid(`key ${key} not found in config (initial was ${key})`);
    }
    return {
      type: entry.type,
      options: inherited(chain.filter(isObject)),
      path,
      ownKeys: Object.keys(entry),
    };
  }
  throw invalid(`entry '${algorithm}' of the configuration refers to itself`);
}

/** The objects from the root to the entry. */
function follow(document: unknown, path: string): unknown[] {
  const chain: unknown[] = [document];
  if (path === '') return chain;
  for (const name of path.split('.')) {
    const last = chain.at(-1);
    chain.push(isObject(last) && Object.hasOwn(last, name) ? last[name] : undefined);
  }
  return chain;
}

function inherited(chain: readonly Json[]): Map<string, unknown> {
  const options = new Map<string, unknown>();
  for (const object of chain) {
    for (const [key, value] of Object.entries(object)) {
      if (key !== 'type' && !key.startsWith('_') && !isObject(value)) options.set(key, value);
    }
  }
  return options;
}

/** Options of any type: they change what is logged or checked, not the result. */
const COMMON_KEYS = ['type', 'verbosity', 'profile', 'validate'];

/**
 * The keys of the entry that its type does not know. @throws INVALID_PARAMETER unless the entry is
 * the root, whose other keys are other entries
 */
export function unknownKeys(
  { ownKeys, path }: PickedConfiguration,
  known: readonly string[],
): string[] {
  const accepted = new Set([...COMMON_KEYS, ...known]);
  const unknown = ownKeys.filter((key) => !key.startsWith('_') && !accepted.has(key));
  if (unknown.length > 0 && path !== '') {
    const paths = unknown.map((key) => `${path}.${key}`).join(' ');
    throw invalid(`Unknown key(s) encountered in config: ${paths}`);
  }
  return unknown;
}

/** Reads typed options; texts that spell a value are accepted. */
export class OptionReader {
  readonly #picked: PickedConfiguration;

  constructor(picked: PickedConfiguration) {
    this.#picked = picked;
  }

  number(
    key: string,
    fallback: number,
    accepts: (value: number) => boolean,
    range: string,
  ): number {
    const value = this.#picked.options.get(key);
    if (value === undefined) return fallback;
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && accepts(number)) return number;
    throw invalid(`${this.#name(key)} must be ${range}, not ${JSON.stringify(value)}`);
  }

  choice<Choice extends string>(key: string, fallback: Choice, choices: readonly Choice[]): Choice {
    const value = this.#picked.options.get(key);
    if (value === undefined) return fallback;
    const choice = choices.find((each) => each === value);
    if (choice !== undefined) return choice;
    throw invalid(
      `${this.#name(key)} must be one of ${choices.join(', ')}, not ${JSON.stringify(value)}`,
    );
  }

  #name(key: string): string {
    return this.#picked.path === '' ? key : `${this.#picked.path}.${key}`;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(message: string): Error {
  return failure('INVALID_PARAMETER', message);
}
