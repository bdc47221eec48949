// Which keys hosts are known by: the lines of OpenSSH's known_hosts files (see sshd(8)).
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

export interface KnownKeys {
  readonly accepted: readonly Buffer[];
  readonly revoked: readonly Buffer[];
}

/** The keys of a host among the lines; lines of certificate authorities are left out. */
export function findKnownKeys(text: string, host: string, port: number): KnownKeys {
  const name = hostName(host, port);
  const accepted: Buffer[] = [];
  const revoked: Buffer[] = [];
  for (const line of text.split(/\r?\n/)) {
    const fields = line.trim().split(/\s+/);
    const marker = fields[0]?.startsWith('@') ? fields.shift() : undefined;
    const [hosts = '', , key] = fields;
    if (key === undefined || hosts.startsWith('#') || !namesHost(hosts, name)) continue;
    if (marker === undefined) accepted.push(Buffer.from(key, 'base64'));
    else if (marker === '@revoked') revoked.push(Buffer.from(key, 'base64'));
  }
  return { accepted, revoked };
}

/** A host as known_hosts writes it. */
export function hostName(host: string, port: number): string {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return port === 22 ? bare : `[${bare}]:${port}`;
}

/** As OpenSSH shows it, for instance SHA256:uNiVztksCsDhcc0u9e8BrqXk2x... */
export function fingerprintOf(key: Uint8Array): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** The name of the algorithm that a public key begins with. */
export function keyTypeOf(key: Buffer): string {
  if (key.length < 4) return '';
  return key.toString('latin1', 4, 4 + Math.min(key.readUInt32BE(0), 64));
}

/** @param given a fingerprint, or a public key as its .pub file has it */
export function isKeyGiven(key: Buffer, given: string): boolean {
  if (given.startsWith('SHA256:')) return fingerprintOf(key) === given.trim().replace(/=+$/, '');
  const [first = '', second] = given.trim().split(/\s+/);
  return key.equals(Buffer.from(second ?? first, 'base64'));
}

function namesHost(hosts: string, name: string): boolean {
  if (hosts.startsWith('|1|')) return isHashOf(hosts, name);
  let isNamed = false;
  for (const pattern of hosts.toLowerCase().split(',')) {
    const isNegated = pattern.startsWith('!');
    if (!matches(isNegated ? pattern.slice(1) : pattern, name)) continue;
    if (isNegated) return false;
    isNamed = true;
  }
  return isNamed;
}

/** `|1|salt|hash`: the name, unreadable. */
function isHashOf(hosts: string, name: string): boolean {
  const [, , salt = '', hash = ''] = hosts.split('|');
  const expected = Buffer.from(hash, 'base64');
  const actual = createHmac('sha1', Buffer.from(salt, 'base64')).update(name).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function matches(pattern: string, name: string): boolean {
  const source = pattern
    .replace(/[\\^$.+()[\]{}|]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`).test(name);
}
