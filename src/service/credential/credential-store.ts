// The credentials that a service knows: rules that it is given, kept one a file, and what the
// machine around it provides.
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credential, CredentialSource, ResourceType } from '../../file/credential.ts';
import { decodePercent } from '../../file/url.ts';
import { writeFailure } from '../../store/durable-file.ts';
import { failure, type RowanError } from '../../util/error.ts';
import { parseJson, stringifyJson } from '../../util/exact-json.ts';
import { entityExists, entityMissing } from '../entity/entity-error.ts';
import { nowSeconds } from '../id.ts';
import type { Logger } from '../logger.ts';
import { SerialQueue } from '../serial-queue.ts';
import { type CredentialRule, chooseRule, parseCredentialRule, ruleId } from './credential.ts';

const NAME_LENGTH_MAX = 200;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

export interface CredentialStoreOptions {
  /** a path, with or without file:// and a trailing slash; undefined: rules are not kept */
  readonly directory: string | undefined;
  readonly logger: Logger;
  /** Rules that the machine provides; they come after all others. */
  readonly ambient?: () => Iterable<CredentialRule>;
}

export class CredentialStore implements CredentialSource {
  readonly #directory: string | undefined;
  readonly #logger: Logger;
  readonly #ambient: () => Iterable<CredentialRule>;
  readonly #queue = new SerialQueue();
  /** rules of the command line, which have no id; they come before those of the collection */
  readonly #given: CredentialRule[] = [];
  /** in the order in which they were made */
  readonly #rules = new Map<string, CredentialRule>();

  constructor({ directory, logger, ambient }: CredentialStoreOptions) {
    this.#directory = directory === undefined ? undefined : localPath(directory);
    this.#logger = logger;
    this.#ambient = ambient ?? (() => []);
  }

  ids(): string[] {
    return [...this.#rules.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  /** @throws ENTITY_NOT_FOUND */
  get(id: string): CredentialRule {
    const rule = this.#rules.get(id);
    if (rule === undefined) throw entityMissing('credential', id);
    return rule;
  }

  /** Adds a rule that is not part of the collection and not kept. */
  give(rule: CredentialRule): void {
    this.#given.push(rule);
  }

  /**
   * Adds a rule; resolves when it is kept.
   * @param id default: made from the rule
   * @throws ENTITY_EXISTS
   */
  async add(rule: CredentialRule, id = ruleId(rule)): Promise<string> {
    if (this.#rules.has(id)) throw entityExists('credential', id);
    this.#rules.set(id, rule);
    try {
      await this.#queue.run(() => this.#write(id, rule));
    } catch (thrown) {
      if (this.#rules.get(id) === rule) this.#rules.delete(id);
      throw thrown;
    }
    return id;
  }

  /** Removes a rule, and its file; nothing when there is none. */
  async remove(id: string): Promise<void> {
    this.#rules.delete(id);
    const directory = this.#directory;
    if (directory === undefined) return;
    await this.#queue.run(async () => {
      await rm(join(directory, fileName(id)), { force: true });
      await syncDirectory(directory);
    });
  }

  find(type: ResourceType, url: string): Credential | undefined {
    return chooseRule(this.#inOrder(), type, url, nowSeconds())?.credential;
  }

  /** @throws CREDENTIALS_NOT_FOUND */
  need(type: ResourceType, url: string): Credential {
    const found = this.find(type, url);
    if (found === undefined) throw credentialsNotFound(type, url);
    return found;
  }

  *#inOrder(): Iterable<CredentialRule> {
    yield* this.#given;
    yield* [...this.#rules.values()].reverse();
    yield* this.#ambient();
  }

  /** Reads the rules that were kept. A file that is no rule is reported and left alone. */
  async load(): Promise<void> {
    const directory = this.#directory;
    if (directory === undefined) return;
    const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    const loaded: { id: string; rule: CredentialRule; madeAt: number }[] = [];
    for (const name of names) {
      if (name.startsWith('.')) continue;
      const path = join(directory, name);
      const { mtimeMs } = await stat(path);
      const read = await readRule(path, name).catch(() => undefined);
      if (read !== undefined) loaded.push({ ...read, madeAt: mtimeMs });
      else
        this.#logger.warn(
          { logger: 'credential', path },
          'a file among the credentials holds no rule',
        );
    }
    loaded.sort((a, b) => a.madeAt - b.madeAt);
    for (const { id, rule } of loaded) this.#rules.set(id, rule);
  }

  async #write(id: string, { store }: CredentialRule): Promise<void> {
    const directory = this.#directory;
    if (directory === undefined) return;
    await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
    const path = join(directory, fileName(id));
    const draft = join(directory, `.${randomBytes(6).toString('hex')}.part`);
    try {
      const file = await open(draft, 'wx', FILE_MODE);
      try {
        await file.writeFile(stringifyJson({ id, store }));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, path);
      await chmod(path, FILE_MODE);
      await syncDirectory(directory);
    } catch (thrown) {
      await rm(draft, { force: true });
      throw writeFailure(path, thrown);
    }
  }
}

export function credentialsNotFound(type: ResourceType, url: string): RowanError {
  return failure(
    'CREDENTIALS_NOT_FOUND',
    { type, url },
    {
      resourceType: type,
      url,
    },
  );
}

function localPath(text: string): string {
  const path = text.startsWith('file://') ? decodePercent(text.slice('file://'.length)) : text;
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

/** Never hidden, never a path of its own, and of bounded length. */
function fileName(id: string): string {
  const encoded = encodeURIComponent(id).replace(/^\./, '%2E');
  if (encoded.length <= NAME_LENGTH_MAX) return encoded;
  return `#${createHash('sha256').update(id).digest('hex')}`;
}

/** @throws when the file holds no rule */
async function readRule(
  path: string,
  name: string,
): Promise<{ readonly id: string; readonly rule: CredentialRule }> {
  const json = parseJson(await readFile(path, 'utf8'));
  const { id, store } = json as { readonly id?: unknown; readonly store?: unknown };
  return {
    id: typeof id === 'string' ? id : decodeURIComponent(name),
    rule: parseCredentialRule(store),
  };
}

/** Makes a rename or a removal durable; some systems do not let directories be opened. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}
