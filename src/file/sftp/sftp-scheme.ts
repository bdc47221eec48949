// sftp://host[:port]/path: files of SSH servers.
import type { FileEntry } from 'ssh2';
import { failure } from '../../util/error.ts';
import type { AddressGuard } from '../address-guard.ts';
import type { Credential, CredentialSource } from '../credential.ts';
import type { FileFacts, FileSink, Listing, Scheme, SourceFile } from '../scheme.ts';
import type { FileUrl } from '../url.ts';
import { decodePercent } from '../url.ts';
import { isDirectoryMode, readSftpFile, SftpUpload, sftpFailure } from './sftp-file.ts';
import { type SftpAccount, type SftpLease, SftpSessions } from './sftp-session.ts';

const DEFAULT_PORT = 22;
const LINK_MODE = 0o120000;

export interface SftpSchemeOptions {
  readonly guard: AddressGuard;
  readonly credentials: CredentialSource;
  /** files of known hosts; default: those of the user and of the machine */
  readonly knownHostsPaths?: readonly string[];
}

interface Stats {
  readonly mode: number;
  readonly size: number;
  /** seconds since the epoch */
  readonly mtime: number;
}

/** Files of SSH servers. */
export class SftpScheme implements Required<Scheme> {
  readonly name = 'sftp';
  readonly hasEscapes = true;
  readonly #credentials: CredentialSource;
  readonly #sessions: SftpSessions;

  constructor(options: SftpSchemeOptions) {
    this.#credentials = options.credentials;
    this.#sessions = new SftpSessions(options);
  }

  async open(url: FileUrl): Promise<SourceFile> {
    const path = readPath(url);
    const found = await this.#with(url, (lease) =>
      lease.call<Stats>((sftp, done) => sftp.stat(path, done)),
    );
    if (isDirectoryMode(found.mode)) {
      throw failure('INVALID_URL', `cannot read ${url.text}: ${path} is a directory`, {
        url: url.text,
      });
    }
    const { size } = found;
    return {
      url: url.text,
      name: path,
      sizeBytes: size,
      lastModified: found.mtime,
      stream: () => this.#read(url, path, 0, size),
      range: (start, end) => this.#read(url, path, start, end),
    };
  }

  async create(url: FileUrl): Promise<FileSink> {
    const path = readPath(url);
    return SftpUpload.create(await this.#acquire(url), path, url);
  }

  async list(url: FileUrl): Promise<Listing> {
    const path = readPath(url);
    const base = url.text.replace(/\/+$/, '');
    return this.#with(url, async (lease) => {
      const files: string[] = [];
      const dirs: string[] = [];
      const facts = new Map<string, FileFacts>();
      for (const { filename, attrs } of await entriesOf(lease, path)) {
        const child = `${base}/${filename.replaceAll('%', '%25')}`;
        const target = isLink(attrs)
          ? await lease
              .call<Stats>((sftp, done) => sftp.stat(`${path}/${filename}`, done))
              .catch(() => attrs)
          : attrs;
        if (isDirectoryMode(target.mode)) dirs.push(child);
        else {
          files.push(child);
          facts.set(child, { sizeBytes: target.size, lastModified: target.mtime });
        }
      }
      return { files, dirs, facts };
    });
  }

  async *candidates(pattern: FileUrl, prefix: string): AsyncIterable<string> {
    const { host } = new URL(pattern.text);
    const rest = prefix.slice(prefix.indexOf('/', 'sftp://'.length));
    const lease = await this.#acquire(pattern);
    try {
      yield* walk(lease, rest.replace(/\/+$/, ''), `sftp://${host}`);
    } finally {
      lease.release();
    }
  }

  async *#read(url: FileUrl, path: string, start: number, end: number) {
    yield* readSftpFile(await this.#acquire(url), path, url, { start, end });
  }

  async #with<T>(url: FileUrl, work: (lease: SftpLease) => Promise<T>): Promise<T> {
    const lease = await this.#acquire(url);
    try {
      return await work(lease);
    } catch (error) {
      throw sftpFailure(error, readPath(url), url);
    } finally {
      lease.release();
    }
  }

  async #acquire(url: FileUrl): Promise<SftpLease> {
    const address = readAddress(url);
    const credential = await this.#credentials.find('sftp', url.text);
    if (credential === undefined) {
      throw failure(
        'CREDENTIALS_NOT_FOUND',
        { type: 'sftp', url: url.text },
        {
          resourceType: 'sftp',
          url: url.text,
        },
      );
    }
    return this.#sessions.acquire(accountOf(credential, address), url);
  }
}

/** @throws INVALID_URL */
function readAddress(url: FileUrl): URL {
  const address = URL.canParse(url.text) ? new URL(url.text) : undefined;
  if (address === undefined || address.hostname === '') {
    throw failure('INVALID_URL', `not a valid URL: ${url.text}; accepted is sftp://host/path`, {
      url: url.text,
    });
  }
  if (address.username !== '' || address.password !== '') {
    // The address may hold a password, so it is not repeated.
    throw failure(
      'INVALID_URL',
      `sftp://${address.host} with a user in its address: who asks is said by a credential of type sftp`,
    );
  }
  return address;
}

/** @throws INVALID_URL */
function readPath(url: FileUrl): string {
  const slash = url.rest.indexOf('/');
  const path = slash === -1 ? '' : decodePercent(url.rest.slice(slash));
  if (path === '' || path.includes('\0')) {
    throw failure('INVALID_URL', `not a path of a file: ${url.text}`, { url: url.text });
  }
  return path.length > 1 ? path.replace(/\/+$/, '') || '/' : path;
}

function accountOf({ location, id, secret, extra }: Credential, address: URL): SftpAccount {
  const place = readLocation(location);
  const privateKey = extra?.privateKey;
  if (privateKey !== undefined && typeof privateKey !== 'string') {
    throw failure('INVALID_PARAMETER', 'extra.privateKey of a credential: String was expected');
  }
  const port = place?.port || address.port;
  return {
    host: place?.hostname || address.hostname,
    port: port === '' ? DEFAULT_PORT : Number(port),
    username: id,
    ...(privateKey === undefined
      ? { password: secret }
      : { privateKey, ...(secret === '' ? {} : { passphrase: secret }) }),
    hostKeys: readHostKeys(extra?.hostKey),
  };
}

/** host[:port] of a credential */
function readLocation(location: string | undefined): URL | undefined {
  if (!location) return undefined;
  const text = `sftp://${location.replace(/^sftp:\/\//, '')}`;
  if (URL.canParse(text)) return new URL(text);
  throw failure('INVALID_PARAMETER', `location of a credential for SFTP: host[:port] was expected`);
}

function readHostKeys(given: unknown): readonly string[] {
  if (given === undefined || given === null) return [];
  const keys: unknown[] = Array.isArray(given) ? given : [given];
  if (keys.every((key) => typeof key === 'string')) return keys;
  throw failure(
    'INVALID_PARAMETER',
    'extra.hostKey of a credential: a fingerprint (SHA256:...), a public key or a list was expected',
  );
}

async function entriesOf(lease: SftpLease, path: string): Promise<FileEntry[]> {
  const entries = await lease.call<FileEntry[]>((sftp, done) => sftp.readdir(path, done));
  return entries
    .filter(({ filename }) => filename !== '.' && filename !== '..')
    .sort((a, b) => Buffer.compare(Buffer.from(a.filename), Buffer.from(b.filename)));
}

async function* walk(lease: SftpLease, path: string, origin: string): AsyncIterable<string> {
  const entries = await entriesOf(lease, path === '' ? '/' : path).catch(() => []);
  for (const { filename, attrs } of entries) {
    const child = `${path}/${filename}`;
    if (isDirectoryMode(attrs.mode)) yield* walk(lease, child, origin);
    else yield origin + child.replaceAll('%', '%25');
  }
}

function isLink({ mode }: Stats): boolean {
  return (mode & 0o170000) === LINK_MODE;
}
