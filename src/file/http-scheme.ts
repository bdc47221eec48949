// http:// and https://, for reading.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { failure, RowanError } from '../util/error.ts';
import { AddressGuard } from './address-guard.ts';
import type { ByteStream } from './byte-stream.ts';
import { throughTransform } from './byte-stream.ts';
import { type Credential, type CredentialSource, NO_CREDENTIALS } from './credential.ts';
import { HttpClient, receiveBody } from './http-client.ts';
import type { CopyFacts, RemoteCache, RemoteCopy } from './remote-cache.ts';
import type { ReadOptions, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';
import { lastSuffix } from './url.ts';

const REDIRECT_COUNT_MAX = 20;

export interface HttpSchemeOptions {
  readonly guard?: AddressGuard;
  /** asked when a server wants to know who calls */
  readonly credentials?: CredentialSource | undefined;
  readonly cache?: RemoteCache | undefined;
}

/** A file at its last address: what the reply says of it, and its bytes as they were sent. */
interface Found {
  readonly address: URL;
  readonly facts: CopyFacts;
  readonly sizeBytes: number | undefined;
  body(options: ReadOptions): ByteStream;
}

/** Reads files from web servers, from a copy where that still holds. */
export class HttpScheme implements Scheme {
  readonly name: 'http' | 'https';
  readonly #client: HttpClient;
  readonly #credentials: CredentialSource;
  readonly #cache: RemoteCache | undefined;

  constructor(name: 'http' | 'https', options: HttpSchemeOptions = {}) {
    this.name = name;
    this.#client = new HttpClient(options.guard ?? new AddressGuard(true));
    this.#credentials = options.credentials ?? NO_CREDENTIALS;
    this.#cache = options.cache;
  }

  async open(url: FileUrl, options: ReadOptions): Promise<SourceFile> {
    const found = await this.#follow(url, options);
    const { facts, sizeBytes } = found;
    const lastModified = Date.parse(facts.lastModified ?? '') / 1000;
    let first: Found | undefined = found;
    const content = async function* (scheme: HttpScheme): AsyncIterable<Uint8Array> {
      // A reply can be read once; who reads the file again asks again.
      const source = first ?? (await scheme.#follow(url, options));
      first = undefined;
      yield* decoded(source.body(options), source.facts.contentEncoding, url);
    };
    return {
      url: url.text,
      name: nameOf(found.address, url),
      ...(sizeBytes === undefined || facts.contentEncoding !== undefined ? {} : { sizeBytes }),
      lastModified: Number.isNaN(lastModified) ? Date.now() / 1000 : lastModified,
      stream: () => content(this),
    };
  }

  async #follow(url: FileUrl, options: ReadOptions): Promise<Found> {
    let address = readAddress(url.text, url);
    for (let count = 0; count <= REDIRECT_COUNT_MAX; count++) {
      const answer = await this.#ask(address, url, options);
      if (!(answer instanceof URL)) return answer;
      address = answer;
      if (!/^https?:$/.test(address.protocol)) break;
    }
    throw httpFailure(url, 'too many redirects');
  }

  /** The file at an address, or where else it is. */
  async #ask(
    address: URL,
    url: FileUrl,
    options: ReadOptions,
    usesCopy = true,
  ): Promise<Found | URL> {
    const key = keyOf(address);
    const copy = usesCopy ? await this.#cache?.find(key) : undefined;
    const { response, isAuthorized } = await this.#request(address, url, copy?.facts, options);
    const status = response.statusCode ?? 0;
    if (status === 304 && copy !== undefined) {
      response.resume();
      if (await copy.checkAndTouch()) return this.#kept(copy, address, url);
      // The copy was not what it should be.
      return this.#ask(address, url, options, false);
    }
    const { location } = response.headers;
    if (status >= 300 && status < 400 && location !== undefined) {
      response.destroy();
      return readAddress(new URL(location, address).href, url);
    }
    if (status !== 200) {
      response.destroy();
      const details = { url: url.text, status };
      throw status === 404
        ? failure('FILE_NOT_FOUND', { form: 'http', ...details }, details)
        : failure('INVALID_URL', `HTTP code ${status} reading ${url.text}`, details);
    }
    const facts = factsOf(response.headers);
    const length = Number(response.headers['content-length'] ?? Number.NaN);
    const mayKeep = this.#cache !== undefined && isKeepable(response.headers, isAuthorized);
    return {
      address,
      facts,
      sizeBytes: Number.isFinite(length) ? length : undefined,
      body: ({ failOnStall }) => {
        const body = received(response, url, failOnStall === true);
        return mayKeep ? (this.#cache as RemoteCache).keep(key, facts, body) : body;
      },
    };
  }

  #kept(copy: RemoteCopy, address: URL, url: FileUrl): Found {
    const follow = (options: ReadOptions) => this.#follow(url, options);
    return {
      address,
      facts: copy.facts,
      sizeBytes: copy.sizeBytes,
      async *body(options) {
        // Another process may have made room since.
        yield* (await copy.read()) ?? (await follow(options)).body(options);
      },
    };
  }

  /** Without credentials first, then with those of the address, if it has any. */
  async #request(
    address: URL,
    url: FileUrl,
    known: CopyFacts | undefined,
    options: ReadOptions,
  ): Promise<{ response: IncomingMessage; isAuthorized: boolean }> {
    const hasOwn = address.username !== '' || address.password !== '';
    const response = await this.#send(address, url, known, options);
    if (response.statusCode !== 401 && response.statusCode !== 403) {
      return { response, isAuthorized: hasOwn };
    }
    const credential = await this.#credentials.find('http', address.href);
    if (credential === undefined) return { response, isAuthorized: hasOwn };
    response.destroy();
    const authorized = await this.#send(address, url, known, options, authorization(credential));
    return { response: authorized, isAuthorized: true };
  }

  async #send(
    address: URL,
    url: FileUrl,
    known: CopyFacts | undefined,
    { failOnStall = false }: ReadOptions,
    authorizedBy?: string,
  ): Promise<IncomingMessage> {
    const headers = {
      'accept-encoding': 'gzip, deflate, br',
      ...(known?.etag === undefined ? {} : { 'if-none-match': known.etag }),
      ...(known?.lastModified === undefined ? {} : { 'if-modified-since': known.lastModified }),
      ...(authorizedBy === undefined ? {} : { authorization: authorizedBy }),
    };
    try {
      return await this.#client.send({ method: 'GET', address, headers, failOnStall }, url.text);
    } catch (error) {
      throw error instanceof RowanError ? error : httpFailure(url, (error as Error).message);
    }
  }
}

/** The suffix tells the compression; one that a redirection has lost is that of the first address. */
function nameOf({ pathname }: URL, url: FileUrl): string {
  return lastSuffix(pathname) === '' ? readAddress(url.text, url).pathname : pathname;
}

function readAddress(text: string, url: FileUrl): URL {
  if (URL.canParse(text)) return new URL(text);
  throw failure('INVALID_URL', `not a valid URL: ${url.text}`, { url: url.text });
}

function keyOf(address: URL): string {
  const { href, hash } = address;
  return href.slice(0, href.length - hash.length);
}

function factsOf(headers: IncomingHttpHeaders): CopyFacts {
  const encoding = headers['content-encoding'];
  const { etag } = headers;
  const lastModified = headers['last-modified'];
  return {
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
    ...(encoding === undefined ? {} : { contentEncoding: encoding }),
  };
}

/**
 * Whether a reply may be kept and validated later. A reply to a request with credentials is kept only
 * when it says that it is public (RFC 9111, section 3.5).
 */
function isKeepable(headers: IncomingHttpHeaders, isAuthorized: boolean): boolean {
  const directives = (headers['cache-control'] ?? '').toLowerCase().split(/\s*,\s*/);
  const varies = (headers.vary ?? '').toLowerCase().split(/\s*,\s*/);
  return (
    (headers.etag !== undefined || headers['last-modified'] !== undefined) &&
    !directives.includes('no-store') &&
    varies.every((name) => name === '' || name === 'accept-encoding') &&
    (!isAuthorized || directives.includes('public'))
  );
}

/** A secret alone is a token; with an id it is a password. */
function authorization({ id, secret }: Credential): string {
  if (id === '') return `Bearer ${secret}`;
  return `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
}

function httpFailure(url: FileUrl, reason: string): RowanError {
  return failure('INVALID_URL', `HTTP error reading ${url.text}: ${reason}`, { url: url.text });
}

async function* received(
  response: IncomingMessage,
  url: FileUrl,
  failOnStall: boolean,
): AsyncIterable<Uint8Array> {
  try {
    yield* receiveBody(response, failOnStall);
  } catch (error) {
    throw httpFailure(url, (error as Error).message);
  }
}

/** @throws DATA_ERROR when the content is not what its encoding says */
function decoded(body: ByteStream, encoding: string | undefined, url: FileUrl): ByteStream {
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return body;
    case 'gzip':
    case 'x-gzip':
      return throughDecoder(body, createGunzip(), url);
    case 'deflate':
      return throughDecoder(body, createInflate(), url);
    case 'br':
      return throughDecoder(body, createBrotliDecompress(), url);
    default:
      throw httpFailure(url, `unknown content encoding ${encoding}`);
  }
}

async function* throughDecoder(
  body: ByteStream,
  decoder: Duplex,
  url: FileUrl,
): AsyncIterable<Uint8Array> {
  try {
    yield* throughTransform(body, decoder);
  } catch (error) {
    if (error instanceof RowanError) throw error;
    throw failure(
      'DATA_ERROR',
      `corrupt or truncated content of ${url.text}: ${(error as Error).message}`,
      { url: url.text },
    );
  }
}
