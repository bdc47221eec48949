// API keys as text and as what is stored of them.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { failure } from '../../util/error.ts';

export const KEY_ROLES = ['reader', 'editor', 'admin'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** What is kept of a key; the key itself is shown once and forgotten. */
export interface StoredKey {
  readonly id: string;
  readonly role: KeyRole;
  readonly name: string;
  /** ISO date, or null: never */
  readonly expires: string | null;
  readonly created: string;
  /** SHA-256 of the key, 64 hex digits */
  readonly hash: string;
}

/** A stored key as replies show it. */
export type KeyDocument = Omit<StoredKey, 'hash'>;

export interface KeyRequest {
  readonly role: KeyRole;
  readonly name?: string | undefined;
  /** ISO date or date and time */
  readonly expires?: string | undefined;
}

const PREFIX = 'rwn_';
const KEY_BYTES = 32;

/** 256 random bits. */
export function makeKeyText(): string {
  return PREFIX + randomBytes(KEY_BYTES).toString('base64url');
}

export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** @throws INVALID_PARAMETER */
export function makeStoredKey(request: KeyRequest, key: string): StoredKey {
  return {
    id: randomBytes(8).toString('hex'),
    role: request.role,
    name: request.name ?? '',
    expires: request.expires === undefined ? null : parseExpiry(request.expires),
    created: new Date().toISOString(),
    hash: hashKey(key).toString('hex'),
  };
}

/** Compares with every key, so that the time taken says nothing about which one was near. */
export function findKey(keys: readonly StoredKey[], hash: Buffer): StoredKey | undefined {
  let found: StoredKey | undefined;
  for (const key of keys) {
    if (timingSafeEqual(Buffer.from(key.hash, 'hex'), hash)) found = key;
  }
  return found;
}

export function isExpired(key: StoredKey, now = Date.now()): boolean {
  return key.expires !== null && Date.parse(key.expires) <= now;
}

export function keyDocument({ hash: _, ...document }: StoredKey): KeyDocument {
  return document;
}

/** @throws INVALID_PARAMETER */
export function parseRole(text: unknown): KeyRole {
  const role = KEY_ROLES.find((known) => known === text);
  if (role !== undefined) return role;
  throw failure(
    'INVALID_PARAMETER',
    `role: one of ${KEY_ROLES.join(', ')} was expected; instead got '${String(text)}'`,
  );
}

function parseExpiry(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time).toISOString();
  throw failure(
    'INVALID_PARAMETER',
    `expires: a date like 2027-01-01 was expected; instead got '${text}'`,
  );
}
