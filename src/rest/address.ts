// Addresses that a server listens on, and which of them only this machine can reach.
import { isIP } from 'node:net';

/** `*` and the empty text stand for all addresses. */
export function listenHost(host: string): string | undefined {
  return host === '*' || host === '' ? undefined : host;
}

/** Whether a listening host can only be reached from this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (name === 'localhost' || name.endsWith('.localhost')) return true;
  if (name === '::1' || name === '0:0:0:0:0:0:0:1') return true;
  if (name.startsWith('::ffff:')) return isLoopbackHost(name.slice('::ffff:'.length));
  return isIP(name) === 4 && name.startsWith('127.');
}

/**
 * Host and port of a `Host` header or of an origin. An IPv6 address stands in brackets, which the
 * host keeps.
 * @returns undefined for anything else
 */
export function splitAuthority(
  authority: string,
): { readonly host: string; readonly port: number | undefined } | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(?::(\d{1,5}))?$/i.exec(authority);
  if (match === null) return undefined;
  const [, host, port] = match;
  return { host: host as string, port: port === undefined ? undefined : Number(port) };
}

export function formatUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
