// The caller of a request, by its API key, and its role.
import { timingSafeEqual } from 'node:crypto';
import type { Role } from '../../service/route/request.ts';
import { RowanError } from '../../util/error.ts';
import { hashKey, isExpired } from './api-key.ts';
import type { KeyStore } from './key-store.ts';

export interface Caller {
  readonly role: Role;
  /** id of the API key, for logs */
  readonly keyId: string | undefined;
}

/** Everybody, while no key exists. */
const EVERYBODY: Caller = { role: 'admin', keyId: undefined };
const NOBODY: Caller = { role: 'open', keyId: undefined };
const BOOTSTRAP: Caller = { role: 'admin', keyId: 'ROWAN_ADMIN_KEY' };

export class Authentication {
  readonly #keys: KeyStore;
  readonly #adminKeyHash: Buffer | undefined;
  /** keys are required even while there is none, as others can reach the service */
  isStrict = false;

  /** @param adminKey the key of the environment, which is not stored */
  constructor(keys: KeyStore, adminKey: string | undefined) {
    this.#keys = keys;
    this.#adminKeyHash = adminKey === undefined || adminKey === '' ? undefined : hashKey(adminKey);
  }

  /** Whether the environment gives an admin key. */
  get hasAdminKey(): boolean {
    return this.#adminKeyHash !== undefined;
  }

  /** Whether keys are required. */
  get hasKeys(): boolean {
    if (this.isStrict || this.#adminKeyHash !== undefined) return true;
    return this.#keys.keys.length > 0 || this.#keys.areLost;
  }

  /**
   * The caller that the headers name; `open` when they name none.
   * @throws UNAUTHENTICATED for a key that is unknown or has expired
   */
  identify(headers: Readonly<Record<string, string>>): Caller {
    if (!this.hasKeys) return EVERYBODY;
    const key = presentedKey(headers);
    if (key === undefined) return NOBODY;
    const hash = hashKey(key);
    if (this.#adminKeyHash !== undefined && timingSafeEqual(this.#adminKeyHash, hash)) {
      return BOOTSTRAP;
    }
    const stored = this.#keys.find(key);
    if (stored === undefined) throw unauthenticated('unknown API key');
    if (isExpired(stored)) {
      throw unauthenticated(`API key '${stored.id}' expired on ${stored.expires}`);
    }
    return { role: stored.role, keyId: stored.id };
  }
}

/** The key that the headers carry. @throws UNAUTHENTICATED for a scheme that is none */
export function presentedKey(headers: Readonly<Record<string, string>>): string | undefined {
  const own = headers['x-api-key'];
  if (own !== undefined && own !== '') return own;
  const { authorization } = headers;
  if (authorization === undefined) return undefined;
  const match = /^Bearer +([^\s]+) *$/i.exec(authorization);
  if (match === null) throw unauthenticated('Authorization must be Bearer <key>');
  return match[1];
}

function unauthenticated(message: string): RowanError {
  return new RowanError('UNAUTHENTICATED', 401, message);
}
