// The account, region and signature of requests to S3.
import { createHash } from 'node:crypto';
import { failure } from '../../util/error.ts';
import type { Credential } from '../credential.ts';
import type { FileUrl } from '../url.ts';

const DEFAULT_REGION = 'us-east-1';
const AWS_HOST = /(^|\.)amazonaws\.com(\.cn)?$/;
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,62}$/;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A bucket, and what stands behind it: a key, or the start of keys. */
export interface S3Place {
  readonly bucket: string;
  readonly key: string;
}

/** @throws INVALID_URL */
export function readPlace(url: FileUrl): S3Place {
  const slash = url.rest.indexOf('/');
  const bucket = slash === -1 ? url.rest : url.rest.slice(0, slash);
  const key = slash === -1 ? '' : url.rest.slice(slash + 1);
  if (!BUCKET.test(bucket)) {
    throw failure('INVALID_URL', `not the name of a bucket: "${bucket}" in ${url.text}`, {
      url: url.text,
    });
  }
  // HTTP resolves these segments, so that another object would be reached.
  if (key.split('/').some((segment) => segment === '.' || segment === '..')) {
    throw failure('INVALID_URL', `a key with . or .. between slashes: ${url.text}`, {
      url: url.text,
    });
  }
  return { bucket, key };
}

/** A place that must have a key. @throws INVALID_URL */
export function readObjectPlace(url: FileUrl): S3Place {
  const place = readPlace(url);
  if (place.key === '' || place.key.endsWith('/')) {
    throw failure('INVALID_URL', `not an object but a folder: ${url.text}`, { url: url.text });
  }
  return place;
}

export interface SignedRequest {
  readonly method: string;
  readonly address: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** An account at a service that speaks S3's protocol; without a credential, anonymous. */
export class S3Account {
  readonly credential: Credential | undefined;
  readonly region: string;
  /** scheme, host and port of a service of one's own; undefined: AWS */
  readonly #endpoint: URL | undefined;
  readonly #hasPathStyle: boolean;
  readonly #keyCache = new Map<string, ArrayBuffer>();

  /** @throws INVALID_PARAMETER when the credential names no valid endpoint */
  constructor(credential: Credential | undefined, environment: Environment) {
    this.credential = credential;
    const endpoint = endpointOf(credential, environment);
    this.#endpoint = endpoint;
    this.#hasPathStyle =
      booleanExtra(credential, 'forcePathStyle') ?? (endpoint !== undefined && !isAws(endpoint));
    this.region =
      textExtra(credential, 'region') ||
      regionOfHost(endpoint?.hostname ?? '') ||
      environment.AWS_REGION ||
      environment.AWS_DEFAULT_REGION ||
      DEFAULT_REGION;
  }

  /** Whether its service may tell of another region that a bucket lies in. */
  get isAws(): boolean {
    return this.#endpoint === undefined || isAws(this.#endpoint);
  }

  /** @param query decoded names and values */
  address({ bucket, key }: S3Place, query: Readonly<Record<string, string>>, region: string): URL {
    const base = this.#baseOf(region);
    // A certificate for *.s3.amazonaws.com does not cover names with dots.
    const inPath =
      this.#hasPathStyle ||
      (base.protocol === 'https:' && bucket.includes('.')) ||
      /[A-Z_]/.test(bucket);
    const address = new URL(inPath ? base : base.href.replace('://', `://${bucket}.`));
    const folder = address.pathname.replace(/\/$/, '');
    const path = key.split('/').map(escapeText).join('/');
    address.pathname = `${folder}${inPath ? `/${bucket}` : ''}/${path}`;
    address.search = Object.entries(query)
      .map(([name, value]) => `${escapeText(name)}=${escapeText(value)}`)
      .join('&');
    return address;
  }

  /** The headers of a request, with its signature when there is a credential. */
  async sign(
    { method, address, headers, body }: SignedRequest,
    region: string,
  ): Promise<Record<string, string>> {
    const contentHash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const all = { ...headers, 'x-amz-content-sha256': contentHash };
    if (this.credential === undefined) return all;
    const { AwsV4Signer } = await import('aws4fetch');
    const token = textExtra(this.credential, 'token');
    const signer = new AwsV4Signer({
      method,
      url: address.href,
      headers: all,
      accessKeyId: this.credential.id,
      secretAccessKey: this.credential.secret,
      ...(token === '' ? {} : { sessionToken: token }),
      service: 's3',
      region,
      cache: this.#keyCache,
    });
    return Object.fromEntries((await signer.sign()).headers);
  }

  #baseOf(region: string): URL {
    const endpoint = this.#endpoint;
    const isGeneral = endpoint === undefined || /^s3\.amazonaws\.com$/.test(endpoint.hostname);
    if (!isGeneral && endpoint !== undefined) return endpoint;
    const suffix = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    return new URL(`${endpoint?.protocol ?? 'https:'}//s3.${region}.${suffix}/`);
  }
}

function endpointOf(credential: Credential | undefined, environment: Environment): URL | undefined {
  const { location = '', protocol = '' } = credential ?? {};
  const text =
    textExtra(credential, 'endpoint') ||
    location ||
    environment.AWS_ENDPOINT_URL_S3 ||
    environment.AWS_ENDPOINT_URL ||
    '';
  if (text === '') return undefined;
  const full = text.includes('://') ? text : `${protocol || 'https'}://${text}`;
  const endpoint = URL.canParse(full) ? new URL(full) : undefined;
  if (endpoint === undefined || !/^https?:$/.test(endpoint.protocol)) {
    throw failure(
      'INVALID_PARAMETER',
      `the endpoint of S3 is no http(s) address: "${text}"; accepted is host[:port], or a URL`,
    );
  }
  return endpoint;
}

function isAws({ hostname }: URL): boolean {
  return AWS_HOST.test(hostname);
}

/** s3.eu-west-1.amazonaws.com and the older s3-eu-west-1.amazonaws.com */
function regionOfHost(host: string): string | undefined {
  return /(?:^|\.)s3[.-](?:dualstack\.)?([a-z]{2}-[a-z0-9-]+-\d)\.amazonaws\.com/.exec(host)?.[1];
}

function textExtra(credential: Credential | undefined, name: string): string {
  const value = credential?.extra?.[name];
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  throw failure('INVALID_PARAMETER', `extra.${name} of a credential for S3: String was expected`);
}

function booleanExtra(credential: Credential | undefined, name: string): boolean | undefined {
  const value = credential?.extra?.[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'boolean') return value;
  throw failure('INVALID_PARAMETER', `extra.${name} of a credential for S3: Boolean was expected`);
}

/** Escapes all but the unreserved characters of RFC 3986, as signatures want it. */
function escapeText(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
