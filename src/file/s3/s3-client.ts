// Requests to S3 and services like it: signed, sent again where that helps, with errors for people.
import type { IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { failure, RowanError } from '../../util/error.ts';
import { collectBytes } from '../byte-stream.ts';
import type { CredentialSource } from '../credential.ts';
import type { HttpClient, HttpRequest } from '../http-client.ts';
import { receiveBody } from '../http-client.ts';
import type { FileUrl } from '../url.ts';
import { type Environment, S3Account, type S3Place } from './s3-account.ts';
import { childText, parseXml, type XmlElement } from './xml.ts';

const ATTEMPT_COUNT_MAX = 4;
const FIRST_DELAY_MS = 100;
const ACCOUNT_COUNT_MAX = 100;
const RETRIED_STATUSES = new Set([429, 500, 502, 503, 504]);
const ERROR_CODE = /^[A-Za-z][A-Za-z0-9]{0,63}$/;

export interface S3Request {
  readonly method: HttpRequest['method'];
  readonly place: S3Place;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface S3ClientOptions {
  readonly http: HttpClient;
  readonly credentials: CredentialSource;
  readonly environment: Environment;
}

/** Signs requests and sends them; those that fail for a moment are sent again. */
export class S3Client {
  readonly #options: S3ClientOptions;
  /** by what the credential says, as signing keys take a while to derive */
  readonly #accounts = new Map<string, S3Account>();
  readonly #regions = new Map<string, string>();

  constructor(options: S3ClientOptions) {
    this.#options = options;
  }

  /**
   * @param url what the caller asked for, for credentials and messages
   * @returns a reply that is no error; its body is to be received
   * @throws FILE_NOT_FOUND, CREDENTIALS_NOT_FOUND, INVALID_URL, FORBIDDEN
   */
  async send(request: S3Request, url: FileUrl): Promise<IncomingMessage> {
    const account = await this.#account(url);
    const { bucket } = request.place;
    for (let attempt = 1; ; attempt++) {
      const region = this.#regions.get(bucket) ?? account.region;
      const isLast = attempt === ATTEMPT_COUNT_MAX;
      let response: IncomingMessage;
      try {
        response = await this.#sendOnce(request, account, region, url);
      } catch (error) {
        if (error instanceof RowanError) throw error;
        if (isLast) throw s3Failure(url, (error as Error).message);
        await pause(attempt);
        continue;
      }
      const status = response.statusCode ?? 0;
      if (status >= 200 && status < 300) return response;
      const code = await errorCode(response);
      const actual = response.headers['x-amz-bucket-region'];
      if (account.isAws && typeof actual === 'string' && actual !== region && !isLast) {
        this.#regions.set(bucket, actual);
      } else if (RETRIED_STATUSES.has(status) && !isLast) {
        await pause(attempt);
      } else {
        const { method } = request;
        throw refusal({ url, status, code, method, bucket, isAnonymous: !account.credential });
      }
    }
  }

  /** A request whose reply is a document. @throws as `send`, also for errors in a reply of status 200 */
  async sendForXml(request: S3Request, url: FileUrl): Promise<XmlElement> {
    const response = await this.send(request, url);
    const root = await parseXml(await bodyText(response));
    if (root.name === 'Error') throw s3Failure(url, safeCode(childText(root, 'Code')));
    return root;
  }

  /** A request whose reply says nothing more. */
  async sendForHeaders(request: S3Request, url: FileUrl): Promise<IncomingMessage['headers']> {
    const response = await this.send(request, url);
    response.resume();
    return response.headers;
  }

  /** Where a place is found on the network, as a name of it for caches. */
  async addressOf(place: S3Place, url: FileUrl): Promise<string> {
    const account = await this.#account(url);
    return account.address(place, {}, account.region).href;
  }

  async #sendOnce(
    { method, place, query = {}, headers = {}, body }: S3Request,
    account: S3Account,
    region: string,
    url: FileUrl,
  ): Promise<IncomingMessage> {
    const address = account.address(place, query, region);
    const sent = { method, address, headers, ...(body === undefined ? {} : { body }) };
    const signed = await account.sign(sent, region);
    const length = body === undefined ? {} : { 'content-length': body.length };
    return this.#options.http.send({ ...sent, headers: { ...signed, ...length } }, url.text);
  }

  async #account(url: FileUrl): Promise<S3Account> {
    const { credentials, environment } = this.#options;
    const credential = await credentials.find('aws:s3', url.text);
    const key = JSON.stringify(credential ?? null);
    const known = this.#accounts.get(key);
    if (known !== undefined) return known;
    const account = new S3Account(credential, environment);
    if (this.#accounts.size >= ACCOUNT_COUNT_MAX) this.#accounts.clear();
    this.#accounts.set(key, account);
    return account;
  }
}

/** Any failure that S3 has no code for. */
export function s3Failure(url: FileUrl, reason: string): RowanError {
  return failure('INVALID_URL', `S3 error at ${url.text}: ${reason}`, { url: url.text });
}

interface Refusal {
  readonly url: FileUrl;
  readonly status: number;
  readonly code: string;
  readonly method: string;
  readonly bucket: string;
  readonly isAnonymous: boolean;
}

/** Says what a person can do about it; never what the service wrote, which may repeat secrets. */
function refusal({ url, status, code, method, bucket, isAnonymous }: Refusal): RowanError {
  const details = { url: url.text, status, ...(code === '' ? {} : { reason: code }) };
  const reason = `HTTP code ${status}${code === '' ? '' : `, ${code}`}`;
  if (code === 'NoSuchBucket') {
    return failure(
      'FILE_NOT_FOUND',
      { url: url.text, reason: `there is no bucket "${bucket}"` },
      details,
    );
  }
  if (status === 404 && (code === '' || code === 'NoSuchKey')) {
    return failure(
      'FILE_NOT_FOUND',
      { url: url.text, reason: 'No such file or directory' },
      details,
    );
  }
  if (status === 412) {
    return failure('DATA_ERROR', `${url.text} was replaced while it was read`, details);
  }
  if ((status === 401 || status === 403) && isAnonymous) {
    return failure('CREDENTIALS_NOT_FOUND', { type: 'aws:s3', url: url.text }, details);
  }
  if (status === 401 || status === 403 || code in HINTS) {
    const doing = method === 'GET' || method === 'HEAD' ? 'reading' : 'writing';
    const hint = HINTS[code] ?? 'check the id and secret of its credential, and what they may do';
    return failure('INVALID_URL', `S3 refused ${doing} ${url.text} (${reason}): ${hint}`, details);
  }
  return failure('INVALID_URL', `S3 error at ${url.text}: ${reason}`, details);
}

const HINTS: Readonly<Record<string, string>> = {
  InvalidAccessKeyId: 'the id of its credential is unknown there',
  // the same, as versitygw says it
  XAdminUserNotFound: 'the id of its credential is unknown there',
  SignatureDoesNotMatch: 'the secret of its credential is wrong',
  ExpiredToken: 'the token of its credential has expired',
  InvalidToken: 'the token of its credential is wrong',
  RequestTimeTooSkewed: 'the clock of this machine is wrong',
  AccessDenied: 'its credential may not do that',
};

async function errorCode(response: IncomingMessage): Promise<string> {
  try {
    return safeCode(childText(await parseXml(await bodyText(response)), 'Code'));
  } catch {
    return '';
  }
}

function safeCode(code: string): string {
  return ERROR_CODE.test(code) ? code : '';
}

async function bodyText(response: IncomingMessage): Promise<string> {
  return new TextDecoder().decode(await collectBytes(receiveBody(response, false)));
}

/** Doubles from attempt to attempt; spread, so that threads do not come back at the same time. */
function pause(attempt: number): Promise<void> {
  return delay(FIRST_DELAY_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
}
