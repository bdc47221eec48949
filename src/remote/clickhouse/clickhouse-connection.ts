import type { Credential } from '../../file/credential.ts';
import { failure } from '../../util/error.ts';
import type { Connection } from '../message.ts';
import type { RemoteAccess } from '../remote-access.ts';

export interface ClickhousePlace {
  readonly url: string | readonly string[];
  readonly database: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  readonly timeoutSeconds: number;
}

/** Options of a connection; plain data. */
export interface ClickhouseOptions {
  readonly urls: readonly string[];
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  readonly timeoutSeconds: number;
}

/** @throws INVALID_PARAMETER for an address that is none, or has a password in it */
export function checkClickhouseUrls(url: string | readonly string[]): readonly string[] {
  const urls = typeof url === 'string' ? [url] : url;
  for (const each of urls) {
    const parsed = URL.canParse(each) ? new URL(each) : undefined;
    if (parsed === undefined || !/^https?:$/.test(parsed.protocol)) {
      throw failure('INVALID_PARAMETER', 'url must be like http://host:8123', { parameter: 'url' });
    }
    if (parsed.username !== '' || parsed.password !== '') {
      throw failure(
        'INVALID_PARAMETER',
        'url must have no user and no password; store a credential of type clickhouse',
        { parameter: 'url' },
      );
    }
  }
  return urls;
}

/** The user `default` without a password where there is no credential. */
export function clickhouseConnection(place: ClickhousePlace, access: RemoteAccess): Connection {
  const { database, settings, timeoutSeconds } = place;
  const urls = checkClickhouseUrls(place.url);
  const address = urls[0] as string;
  // A worker is answered at once.
  const credential = access.find('clickhouse', address) as Credential | undefined;
  const { id: user = 'default', secret: password = '' } = credential ?? {};
  const options: ClickhouseOptions = { urls, database, user, password, settings, timeoutSeconds };
  return { address, secret: password, options: { ...options } };
}
