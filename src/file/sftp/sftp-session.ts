// Connections to SFTP servers: one for all files of an account, ended soon after its last use.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Client, SFTPWrapper } from 'ssh2';
import { failure, RowanError } from '../../util/error.ts';
import { type AddressGuard, isLoopbackAddress } from '../address-guard.ts';
import type { FileUrl } from '../url.ts';
import {
  findKnownKeys,
  fingerprintOf,
  hostName,
  isKeyGiven,
  type KnownKeys,
  keyTypeOf,
} from './known-hosts.ts';

const CONNECT_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 15_000;
const IDLE_MS_MAX = 5000;

/** Where a server is, and who asks. */
export interface SftpAccount {
  readonly host: string;
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  readonly privateKey?: string;
  /** of the private key */
  readonly passphrase?: string;
  /** fingerprints or public keys, of which the server must have one; empty: known_hosts decides */
  readonly hostKeys: readonly string[];
}

export interface SftpSessionsOptions {
  readonly guard: AddressGuard;
  /** files of known hosts; default: those of the user and of the machine */
  readonly knownHostsPaths?: readonly string[];
}

type Done<T> = (error: Error | null | undefined, value: T) => void;

/** A connection in use. */
export interface SftpLease {
  /** One call as a promise. @throws also when the connection ends before the answer */
  call<T = void>(start: (sftp: SFTPWrapper, done: Done<T>) => void): Promise<T>;
  /** To be called once. */
  release(): void;
}

/** A connection, which ends by itself when it was not used for a while. */
class Session {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #sftp: SFTPWrapper;
  readonly #waiting = new Set<(error: Error) => void>();
  #end: Error | undefined;
  #userCount = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(client: Client, socket: Socket, sftp: SFTPWrapper) {
    this.#client = client;
    this.#socket = socket;
    this.#sftp = sftp;
    client.on('error', (error) => this.#finish(error));
    client.on('close', () => this.#finish(new Error('the connection was closed')));
  }

  lease(): SftpLease {
    clearTimeout(this.#idleTimer);
    this.#userCount++;
    this.#socket.ref();
    return { call: (start) => this.#call(start), release: () => this.#release() };
  }

  #call<T>(start: (sftp: SFTPWrapper, done: Done<T>) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) throw this.#end;
      this.#waiting.add(reject);
      start(this.#sftp, (error, value) => {
        this.#waiting.delete(reject);
        if (error) reject(error);
        else resolve(value);
      });
    });
  }

  #release(): void {
    if (--this.#userCount > 0) return;
    // A connection that waits is no reason for the process to go on.
    this.#socket.unref();
    this.#idleTimer = setTimeout(() => this.#client.end(), IDLE_MS_MAX);
    this.#idleTimer.unref();
  }

  /** Fails the calls that will get no answer any more. */
  #finish(error: Error): void {
    this.#end ??= error;
    for (const reject of this.#waiting) reject(this.#end);
    this.#waiting.clear();
  }
}

/** Connections by account, opened at their first use. */
export class SftpSessions {
  readonly #guard: AddressGuard;
  readonly #knownHostsPaths: readonly string[];
  readonly #sessions = new Map<string, Promise<Session>>();

  constructor({ guard, knownHostsPaths }: SftpSessionsOptions) {
    this.#guard = guard;
    this.#knownHostsPaths = knownHostsPaths ?? [
      join(homedir(), '.ssh', 'known_hosts'),
      '/etc/ssh/ssh_known_hosts',
    ];
  }

  /** @throws INVALID_URL, FORBIDDEN when there is no connection to be had */
  async acquire(account: SftpAccount, url: FileUrl): Promise<SftpLease> {
    const key = JSON.stringify(account);
    let opening = this.#sessions.get(key);
    if (opening === undefined) {
      opening = this.#open(account, url, () => {
        if (this.#sessions.get(key) === opening) this.#sessions.delete(key);
      });
      this.#sessions.set(key, opening);
    }
    let session: Session;
    try {
      session = await opening;
    } catch (error) {
      if (this.#sessions.get(key) === opening) this.#sessions.delete(key);
      throw error;
    }
    return session.lease();
  }

  async #open(account: SftpAccount, url: FileUrl, onEnd: () => void): Promise<Session> {
    const { host, port } = account;
    this.#guard.checkHost(host, url.text);
    const known = await this.#knownKeys(host, port);
    const socket = connect({
      host: host.replace(/^\[|\]$/g, ''),
      port,
      lookup: this.#guard.lookup(url.text),
    });
    let refusedKey: string | undefined;
    try {
      await connected(socket);
      // Requests are small and each waits for its answer.
      socket.setNoDelay(true);
      const { Client } = await import('ssh2');
      const client = new Client();
      const isLocal = isLoopbackAddress(socket.remoteAddress ?? '');
      const ready = once(client, 'ready');
      client.on('close', onEnd);
      // Errors after the start reach the calls that use the connection.
      client.on('error', onEnd);
      client.on('keyboard-interactive', (_name, _words, _language, prompts, finish) => {
        finish(prompts.map(() => account.password ?? ''));
      });
      client.connect({
        sock: socket,
        username: account.username,
        ...(account.password === undefined ? {} : { password: account.password }),
        ...(account.privateKey === undefined ? {} : { privateKey: account.privateKey }),
        ...(account.passphrase === undefined ? {} : { passphrase: account.passphrase }),
        tryKeyboard: account.password !== undefined,
        readyTimeout: CONNECT_TIMEOUT_MS,
        keepaliveInterval: KEEP_ALIVE_MS,
        // The kind of key that is known is asked for, so that it can be compared.
        algorithms: { serverHostKey: { append: [], prepend: knownTypes(known), remove: [] } },
        hostVerifier: (key) => {
          refusedKey = keyFault(key, account, known, isLocal);
          return refusedKey === undefined;
        },
      });
      await ready;
      const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
        client.sftp((error, opened) => (error ? reject(error) : resolve(opened)));
      });
      return new Session(client, socket, sftp);
    } catch (error) {
      socket.destroy();
      if (error instanceof RowanError) throw error;
      throw sessionFailure(url, refusedKey ?? (error as Error).message);
    }
  }

  async #knownKeys(host: string, port: number): Promise<KnownKeys> {
    const texts = await Promise.all(
      this.#knownHostsPaths.map((path) => readFile(path, 'utf8').catch(() => '')),
    );
    return findKnownKeys(texts.join('\n'), host, port);
  }
}

async function connected(socket: Socket): Promise<void> {
  const timer = setTimeout(
    () => socket.destroy(new Error('Timeout was reached')),
    CONNECT_TIMEOUT_MS,
  );
  try {
    await once(socket, 'connect');
  } finally {
    clearTimeout(timer);
  }
}

/**
 * What is wrong with the key of a server. An unknown key is accepted from this machine only, since no
 * other host can answer in its place.
 */
function keyFault(
  key: Buffer,
  { host, port, hostKeys }: SftpAccount,
  { accepted, revoked }: KnownKeys,
  isLocal: boolean,
): string | undefined {
  const name = hostName(host, port);
  const shown = `${keyTypeOf(key)} ${fingerprintOf(key)}`;
  if (revoked.some((other) => other.equals(key))) return `the key of ${name} is revoked: ${shown}`;
  if (hostKeys.length > 0) {
    if (hostKeys.some((given) => isKeyGiven(key, given))) return undefined;
    return `the key of ${name} is not the one of its credential: ${shown}`;
  }
  if (accepted.some((other) => other.equals(key))) return undefined;
  if (accepted.length > 0) {
    return `the key of ${name} is not the one in known_hosts: ${shown}; another host may be answering in its place`;
  }
  if (isLocal) return undefined;
  return `the key of ${name} is not known: ${shown}; if it is the right one, add it to known_hosts of the user that runs this server, or to the credential as extra.hostKey`;
}

function knownTypes({ accepted }: KnownKeys): string[] {
  const types = [...new Set(accepted.map(keyTypeOf))].filter((type) => type !== '');
  // Keys for RSA are offered under the names of newer signatures too.
  return types.flatMap((type) =>
    type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-rsa'] : [type],
  );
}

function sessionFailure(url: FileUrl, reason: string): RowanError {
  return failure('INVALID_URL', `SFTP error at ${url.text}: ${reason}`, { url: url.text });
}
