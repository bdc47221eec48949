// http:// and https://, for reading.

import { lookup } from 'node:dns';
import type { IncomingMessage, RequestOptions } from 'node:http';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { LookupFunction } from 'node:net';
import { BlockList, isIP } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { failure, RowanError } from '../util/error.ts';
import type { ByteStream } from './byte-stream.ts';
import { throughTransform } from './byte-stream.ts';
import { type Credential, type CredentialSource, NO_CREDENTIALS } from './credential.ts';
import type { ReadOptions, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';

const REDIRECT_COUNT_MAX = 20;
const STALL_WINDOW_MS = 5000;
const STALL_SIZE_MIN = 10_000 * (STALL_WINDOW_MS / 1000);
const CONNECT_TIMEOUT_MS = 30_000;

export interface HttpSchemeOptions {
  /** false: addresses of this machine and of the local link are refused */
  readonly allowPrivateUrls?: boolean;
  /** asked when a server wants to know who calls */
  readonly credentials?: CredentialSource | undefined;
}

const PRIVATE = new BlockList();
PRIVATE.addSubnet('127.0.0.0', 8, 'ipv4');
PRIVATE.addSubnet('169.254.0.0', 16, 'ipv4');
PRIVATE.addSubnet('0.0.0.0', 8, 'ipv4');
PRIVATE.addAddress('::1', 'ipv6');
PRIVATE.addAddress('::', 'ipv6');
PRIVATE.addSubnet('fe80::', 10, 'ipv6');

export class HttpScheme implements Scheme {
  readonly name: 'http' | 'https';
  readonly #allowPrivateUrls: boolean;
  readonly #credentials: CredentialSource;

  constructor(name: 'http' | 'https', options: HttpSchemeOptions = {}) {
    this.name = name;
    this.#allowPrivateUrls = options.allowPrivateUrls ?? true;
    this.#credentials = options.credentials ?? NO_CREDENTIALS;
  }

  async open(url: FileUrl, options: ReadOptions): Promise<SourceFile> {
    const { response, finalUrl } = await this.#follow(url);
    const lastModified = Date.parse(response.headers['last-modified'] ?? '') / 1000;
    const length = Number(response.headers['content-length']);
    const encoding = response.headers['content-encoding'];
    const body = decoded(receive(response, url, options.failOnStall === true), encoding, url);
    return {
      url: url.text,
      name: new URL(finalUrl).pathname,
      ...(Number.isFinite(length) && encoding === undefined ? { sizeBytes: length } : {}),
      lastModified: Number.isNaN(lastModified) ? Date.now() / 1000 : lastModified,
      stream: () => body,
    };
  }

  async #follow(url: FileUrl): Promise<{ response: IncomingMessage; finalUrl: string }> {
    let address = url.text;
    for (let count = 0; count <= REDIRECT_COUNT_MAX; count++) {
      const response = await this.#requestAsAnyone(address, url);
      const status = response.statusCode ?? 0;
      const { location } = response.headers;
      if (status >= 300 && status < 400 && location !== undefined) {
        response.destroy();
        address = new URL(location, address).href;
        if (!/^https?:/.test(address)) break;
        continue;
      }
      if (status === 200) return { response, finalUrl: address };
      response.destroy();
      throw failure(
        status === 404 ? 'FILE_NOT_FOUND' : 'INVALID_URL',
        `HTTP code ${status} reading ${url.text}`,
        { url: url.text, status },
      );
    }
    throw httpFailure(url, 'too many redirects');
  }

  /** Without credentials first, then with those of the address, if it has any. */
  async #requestAsAnyone(address: string, url: FileUrl): Promise<IncomingMessage> {
    const response = await this.#request(address, url);
    if (response.statusCode !== 401 && response.statusCode !== 403) return response;
    const credential = await this.#credentials.find('http', address);
    if (credential === undefined) return response;
    response.destroy();
    return this.#request(address, url, authorization(credential));
  }

  #request(address: string, url: FileUrl, authorizedBy?: string): Promise<IncomingMessage> {
    let target: URL;
    try {
      target = new URL(address);
    } catch {
      throw failure('INVALID_URL', `not a valid URL: ${url.text}`, { url: url.text });
    }
    const host = target.hostname.replace(/^\[|\]$/g, '');
    if (isIP(host) !== 0) this.#checkAddress(host, url);
    const options: RequestOptions = {
      timeout: CONNECT_TIMEOUT_MS,
      headers: {
        'user-agent': 'rowan',
        'accept-encoding': 'gzip, deflate, br',
        ...(authorizedBy === undefined ? {} : { authorization: authorizedBy }),
      },
      lookup: this.#checkedLookup(url),
    };
    return new Promise((resolve, reject) => {
      const request = (target.protocol === 'https:' ? httpsGet : httpGet)(target, options, resolve);
      request.on('timeout', () => request.destroy(new Error('Timeout was reached')));
      request.on('error', (error) => {
        reject(error instanceof RowanError ? error : httpFailure(url, error.message));
      });
    });
  }

  /** The address is checked where it is used, so a name cannot change its meaning in between. */
  #checkedLookup(url: FileUrl): LookupFunction {
    return (host, options, callback) => {
      lookup(host, options, (error, found, family) => {
        if (error === null) {
          try {
            const all =
              typeof found === 'string' ? [{ address: found }] : (found as { address: string }[]);
            for (const { address } of all) this.#checkAddress(address, url);
          } catch (refusal) {
            callback(refusal as NodeJS.ErrnoException, '', 4);
            return;
          }
        }
        callback(error, found, family);
      });
    };
  }

  #checkAddress(address: string, url: FileUrl): void {
    if (this.#allowPrivateUrls) return;
    const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
    if (PRIVATE.check(mapped, isIP(mapped) === 6 ? 'ipv6' : 'ipv4')) {
      throw failure(
        'FORBIDDEN',
        `access to addresses of this machine is not allowed: ${url.text} (--allow-private-urls)`,
        { url: url.text },
      );
    }
  }
}

/** A secret alone is a token; with an id it is a password. */
function authorization({ id, secret }: Credential): string {
  if (id === '') return `Bearer ${secret}`;
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

function httpFailure(url: FileUrl, reason: string): RowanError {
  return failure('INVALID_URL', `HTTP error reading ${url.text}: ${reason}`, { url: url.text });
}

async function* receive(
  response: IncomingMessage,
  url: FileUrl,
  failOnStall: boolean,
): AsyncIterable<Uint8Array> {
  let received = 0;
  const timer = failOnStall
    ? setInterval(() => {
        if (received < STALL_SIZE_MIN && !response.isPaused()) {
          response.destroy(new Error('Timeout was reached'));
        }
        received = 0;
      }, STALL_WINDOW_MS)
    : undefined;
  try {
    for await (const part of response) {
      received += (part as Uint8Array).length;
      yield part as Uint8Array;
    }
    if (!response.complete) throw new Error('the connection was closed early');
  } catch (error) {
    throw httpFailure(url, (error as Error).message);
  } finally {
    clearInterval(timer);
    response.destroy();
  }
}

function decoded(body: ByteStream, encoding: string | undefined, url: FileUrl): ByteStream {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return throughTransform(body, createGunzip());
    case 'deflate':
      return throughTransform(body, createInflate());
    case 'br':
      return throughTransform(body, createBrotliDecompress());
    default:
      throw httpFailure(url, `unknown content encoding ${encoding}`);
  }
}
