// Commits, trees and files of a Git repository in a local folder, read only.
import { lstat, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LocalFolder } from '../../file/local-scheme.ts';
import { failure, RowanError } from '../../util/error.ts';

type Git = typeof import('isomorphic-git');

/** A commit as it is stored; texts are decoded. */
export interface Commit {
  readonly id: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly committer: Person;
  /** undefined: in an encoding that is not known */
  readonly message: string | undefined;
  readonly encoding: string;
}

export interface Person {
  readonly name: string;
  readonly email: string;
  /** seconds since the epoch */
  readonly time: number;
}

export interface TreeEntry {
  readonly name: string;
  readonly mode: string;
  readonly id: string;
  readonly kind: 'tree' | 'blob' | 'commit';
}

/** The library holds packs as a whole. */
const PACK_SIZE_MAX = 1 << 30;
/** Trees that are kept: those of a commit are read again for its child. */
const TREE_COUNT_MAX = 4096;
const ID = /^[0-9a-f]{40}$/;

/** Reads a Git repository. */
export class Repository {
  readonly #git: Git;
  /** what every call of the library gets */
  readonly #place: { fs: { promises: object }; gitdir: string; cache: object };
  readonly #url: string;
  readonly #trees = new Map<string, readonly TreeEntry[]>();

  private constructor(git: Git, folder: LocalFolder, gitdir: string, url: string) {
    this.#git = git;
    this.#place = { fs: { promises: readingOf(folder) }, gitdir, cache: {} };
    this.#url = url;
  }

  /**
   * @param folder one with a folder `.git`, or a bare repository
   * @throws DATA_ERROR when it is neither
   */
  static async open(folder: LocalFolder, url: string): Promise<Repository> {
    const git = await import('isomorphic-git');
    for (const gitdir of [join(folder.path, '.git'), folder.path]) {
      const parts = await Promise.all(
        ['HEAD', 'objects', 'refs'].map((part) => stat(join(gitdir, part)).catch(() => undefined)),
      );
      const [head, objects, refs] = parts;
      if (!head?.isFile() || !objects?.isDirectory() || !refs?.isDirectory()) continue;
      await folder.checkRead(gitdir);
      return new Repository(git, folder, gitdir, url);
    }
    throw failure(
      'DATA_ERROR',
      `Error opening git repository ${url}: neither a folder with a .git folder nor a bare repository`,
      { url },
    );
  }

  /**
   * The commits that revisions stand for: a pattern below refs/, a range `from..to`, or a name.
   * @throws INVALID_PARAMETER `Error adding revision`
   */
  async revisions(
    given: readonly string[],
  ): Promise<{ readonly wanted: readonly string[]; readonly hidden: readonly string[] }> {
    const wanted: string[] = [];
    const hidden: string[] = [];
    for (const revision of given) {
      const range = revision.split('..');
      if (revision.includes('*')) wanted.push(...(await this.#matching(revision)));
      else if (range.length === 2) {
        hidden.push(await this.#commitOf(range[0] || 'HEAD', revision));
        wanted.push(await this.#commitOf(range[1] || 'HEAD', revision));
      } else wanted.push(await this.#commitOf(revision, revision));
    }
    return { wanted, hidden };
  }

  async #matching(pattern: string): Promise<string[]> {
    const below = pattern.startsWith('refs/') ? pattern.slice('refs/'.length) : pattern;
    const literal = (text: string) => text.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&');
    const matcher = new RegExp(`^${below.split(/\*+/).map(literal).join('.*')}$`, 's');
    const names = await this.#reading(`refs/${below}`, () =>
      this.#git.listRefs({ ...this.#place, filepath: 'refs' } as never),
    );
    const commits: string[] = [];
    for (const name of names.sort()) {
      if (!matcher.test(name)) continue;
      const id = await this.#git.resolveRef({ ...this.#place, ref: `refs/${name}` } as never);
      const commit = await this.#peeled(id);
      // A tag may name a file.
      if (commit !== undefined) commits.push(commit);
    }
    return commits;
  }

  /** @param revision a name or id, with any of `~n`, `^n`, `^{}` behind it */
  async #commitOf(revision: string, whole: string): Promise<string> {
    const place = revision.search(/[~^]/);
    const base = place === -1 ? revision : revision.slice(0, place);
    const steps = place === -1 ? '' : revision.slice(place);
    if (!/^(~\d*|\^\d*|\^\{(commit)?\})*$/.test(steps)) throw unknownRevision(whole, this.#url);
    let id = await this.#peeled(await this.#resolve(base, whole));
    for (const [, kind, count] of steps.matchAll(/([~^])(\{(?:commit)?\}|\d*)/g)) {
      if (id === undefined) break;
      if (count?.startsWith('{')) continue;
      const number = count === '' ? 1 : Number(count);
      if (kind === '^') {
        id = number === 0 ? id : (await this.commit(id)).parents[number - 1];
        continue;
      }
      for (let step = 0; step < number && id !== undefined; step++) {
        id = (await this.commit(id)).parents[0];
      }
    }
    if (id === undefined) throw unknownRevision(whole, this.#url);
    return id;
  }

  async #resolve(name: string, whole: string): Promise<string> {
    try {
      return await this.#git.resolveRef({ ...this.#place, ref: name } as never);
    } catch {
      // Not the name of a reference: an id, or the beginning of one.
    }
    try {
      if (/^[0-9a-f]{4,40}$/.test(name)) {
        return await this.#git.expandOid({ ...this.#place, oid: name } as never);
      }
    } catch {
      // Told below in the words of the caller.
    }
    throw unknownRevision(whole, this.#url);
  }

  /** The commit that an object is or, as a tag, names. */
  async #peeled(id: string): Promise<string | undefined> {
    for (let current = id; ; ) {
      const { type, object } = await this.#object(current);
      if (type === 'commit') return current;
      if (type !== 'tag') return undefined;
      const [, target] = /^object ([0-9a-f]{40})$/m.exec(object.toString('latin1')) ?? [];
      if (target === undefined) return undefined;
      current = target;
    }
  }

  async commit(id: string): Promise<Commit> {
    const { type, object } = await this.#object(id);
    if (type !== 'commit') throw damaged(`${id} is a ${type} instead of a commit`, this.#url);
    return parseCommit(id, object, this.#url);
  }

  async tree(id: string): Promise<readonly TreeEntry[]> {
    const known = this.#trees.get(id);
    if (known !== undefined) return known;
    const { type, object } = await this.#object(id);
    if (type !== 'tree') throw damaged(`${id} is a ${type} instead of a tree`, this.#url);
    const entries = parseTree(object, this.#url);
    if (this.#trees.size >= TREE_COUNT_MAX) {
      this.#trees.delete(this.#trees.keys().next().value as string);
    }
    this.#trees.set(id, entries);
    return entries;
  }

  async file(id: string): Promise<Buffer> {
    const { type, object } = await this.#object(id);
    if (type !== 'blob') throw damaged(`${id} is a ${type} instead of a file`, this.#url);
    return object;
  }

  async #object(id: string): Promise<{ type: string; object: Buffer }> {
    const read = await this.#reading(`object ${id}`, () =>
      this.#git.readObject({ ...this.#place, oid: id, format: 'content' } as never),
    );
    return { type: read.type, object: Buffer.from(read.object as Uint8Array) };
  }

  async #reading<Result>(what: string, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (thrown) {
      if (thrown instanceof RowanError) throw thrown;
      throw damaged(`${what}: ${(thrown as Error).message}`, this.#url);
    }
  }
}

function unknownRevision(revision: string, url: string): RowanError {
  return failure(
    'INVALID_PARAMETER',
    `Error adding revision '${revision}': no commit of ${url} has this name; accepted are branches, tags, ids, HEAD~2, a range a..b, and patterns below refs/ as in tags/*`,
    { revision, url },
  );
}

function damaged(reason: string, url: string): RowanError {
  return failure('DATA_ERROR', `cannot read git repository ${url}: ${reason}`, { url });
}

/** The part of `node:fs/promises` that the library reads with; every path is checked. */
function readingOf(folder: LocalFolder): object {
  const refused = () => Promise.reject(new Error('the repository is only read'));
  return {
    async readFile(path: string, options?: Parameters<typeof readFile>[1]) {
      await folder.checkRead(path);
      const { size } = await stat(path);
      if (size > PACK_SIZE_MAX) {
        throw failure(
          'INVALID_PARAMETER',
          `${path} has ${Math.round(size / 1e6)} MB; files of repositories are read up to 1 GiB: split the pack with git repack --max-pack-size=1g`,
        );
      }
      return readFile(path, options);
    },
    async readdir(path: string) {
      await folder.checkRead(path);
      return readdir(path);
    },
    async readlink(path: string) {
      await folder.checkRead(path);
      return readlink(path);
    },
    stat,
    lstat,
    writeFile: refused,
    mkdir: refused,
    rmdir: refused,
    unlink: refused,
    symlink: refused,
  };
}

/** Headers, an empty line, and the message: gitformat-commit. */
function parseCommit(id: string, bytes: Buffer, url: string): Commit {
  const split = bytes.indexOf('\n\n');
  const head = bytes.subarray(0, split === -1 ? bytes.length : split).toString('latin1');
  const headers = new Map<string, string[]>();
  for (const line of head.split('\n')) {
    const space = line.indexOf(' ');
    // A line that begins with a space goes on with the one before, a signature for instance.
    if (space <= 0) continue;
    const name = line.slice(0, space);
    headers.set(name, [...(headers.get(name) ?? []), line.slice(space + 1)]);
  }
  const [tree] = headers.get('tree') ?? [];
  const parents = headers.get('parent') ?? [];
  if (tree === undefined || ![tree, ...parents].every((each) => ID.test(each))) {
    throw damaged(`commit ${id} is damaged`, url);
  }
  const [encoding = 'UTF-8'] = headers.get('encoding') ?? [];
  const decode = decoderOf(encoding);
  const person = (name: string) => parsePerson(headers.get(name)?.[0] ?? '', decode ?? utf8);
  const text = split === -1 ? Buffer.alloc(0) : bytes.subarray(split + 2);
  return {
    id,
    tree,
    parents,
    author: person('author'),
    committer: person('committer'),
    message: decode?.(text),
    encoding,
  };
}

type Decoder = (bytes: Buffer) => string;

const utf8: Decoder = (bytes) => bytes.toString('utf8');
const latin1: Decoder = (bytes) => bytes.toString('latin1');

function decoderOf(encoding: string): Decoder | undefined {
  const name = encoding.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  if (name === 'utf8' || name === 'usascii' || name === 'ascii') return utf8;
  return name === 'iso88591' || name === 'latin1' ? latin1 : undefined;
}

/** @param text `Name <address> seconds zone`, bytes as code points */
function parsePerson(text: string, decode: Decoder): Person {
  const close = text.lastIndexOf('>');
  const open = text.indexOf('<');
  const decoded = (part: string) => decode(Buffer.from(part, 'latin1')).trim();
  if (open === -1 || close < open) return { name: decoded(text), email: '', time: 0 };
  const seconds = Number.parseInt(text.slice(close + 1).trim(), 10);
  return {
    name: decoded(text.slice(0, open)),
    email: decoded(text.slice(open + 1, close)),
    time: Number.isSafeInteger(seconds) ? seconds : 0,
  };
}

/** Mode, space, name, a zero, and 20 bytes of the id: gitformat-tree. */
function parseTree(bytes: Buffer, url: string): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(0x20, at);
    const zero = bytes.indexOf(0, space);
    if (space === -1 || zero === -1 || zero + 21 > bytes.length) {
      throw damaged('a tree is cut short', url);
    }
    const mode = bytes.toString('latin1', at, space);
    entries.push({
      mode,
      name: bytes.toString('utf8', space + 1, zero),
      id: bytes.toString('hex', zero + 1, zero + 21),
      kind: mode === '40000' ? 'tree' : mode === '160000' ? 'commit' : 'blob',
    });
    at = zero + 21;
  }
  return entries;
}
