// s3://bucket/key: objects of S3 and of services that speak its protocol.
import { failure, RowanError } from '../../util/error.ts';
import type { CredentialSource } from '../credential.ts';
import type { HttpClient } from '../http-client.ts';
import { receiveBody, StallError } from '../http-client.ts';
import type { RemoteCache } from '../remote-cache.ts';
import type { FileFacts, FileSink, Listing, ReadOptions, Scheme, SourceFile } from '../scheme.ts';
import type { FileUrl } from '../url.ts';
import { decodePercent } from '../url.ts';
import { type Environment, readObjectPlace, readPlace, type S3Place } from './s3-account.ts';
import { S3Client, s3Failure } from './s3-client.ts';
import { S3Upload } from './s3-upload.ts';
import { childrenOf, childText, type XmlElement } from './xml.ts';

/** Times that a body goes on where its connection broke. */
const RESUME_COUNT_MAX = 3;
/** What S3 answers before it looks at what a key may do. */
const WRONG_CREDENTIAL =
  /^(InvalidAccessKeyId|XAdminUserNotFound|SignatureDoesNotMatch|ExpiredToken|InvalidToken|RequestTimeTooSkewed)$/;

export interface S3SchemeOptions {
  readonly http: HttpClient;
  readonly credentials: CredentialSource;
  readonly cache?: RemoteCache | undefined;
  readonly environment: Environment;
  /** bytes of the first part of large objects */
  readonly firstPartSize?: number;
}

/** An object as it was when it was opened. */
interface S3Object {
  readonly place: S3Place;
  readonly url: FileUrl;
  readonly sizeBytes: number;
  readonly etag: string | undefined;
}

/** Objects of S3 as files. */
export class S3Scheme implements Required<Scheme> {
  readonly name = 's3';
  readonly hasEscapes = false;
  readonly #client: S3Client;
  readonly #cache: RemoteCache | undefined;
  readonly #firstPartSize: number | undefined;

  constructor(options: S3SchemeOptions) {
    this.#client = new S3Client(options);
    this.#cache = options.cache;
    this.#firstPartSize = options.firstPartSize;
  }

  async open(url: FileUrl, options: ReadOptions): Promise<SourceFile> {
    const place = readObjectPlace(url);
    const headers = await this.#head(place, url);
    const { etag } = headers;
    const object = { place, url, sizeBytes: Number(headers['content-length']), etag };
    const isKept = headers['cache-control']?.toLowerCase().includes('no-store') !== true;
    const lastModified = Date.parse(headers['last-modified'] ?? '') / 1000;
    return {
      url: url.text,
      name: place.key,
      sizeBytes: object.sizeBytes,
      lastModified: Number.isNaN(lastModified) ? Date.now() / 1000 : lastModified,
      stream: () => this.#whole(object, options, isKept),
      range: (start, end) => this.#part(object, start, end, options),
    };
  }

  async create(url: FileUrl): Promise<FileSink> {
    const place = readObjectPlace(url);
    await this.#checkBeforeWork(place, url);
    return new S3Upload(
      this.#client,
      place,
      url,
      this.#firstPartSize === undefined ? {} : { firstPartSize: this.#firstPartSize },
    );
  }

  async list(url: FileUrl): Promise<Listing> {
    const { bucket, key } = readPlace(url);
    const prefix = key === '' || key.endsWith('/') ? key : `${key}/`;
    const files: string[] = [];
    const dirs: string[] = [];
    const facts = new Map<string, FileFacts>();
    let isThere = prefix === '';
    for await (const page of this.#pages({ bucket, key: prefix }, url, { delimiter: '/' })) {
      const keyOf = keyReader(page);
      for (const object of childrenOf(page, 'Contents')) {
        isThere = true;
        const name = keyOf(object, 'Key');
        // Some tools mark a folder by an object of its name.
        if (name === prefix) continue;
        const file = `s3://${bucket}/${name}`;
        files.push(file);
        facts.set(file, {
          sizeBytes: Number(childText(object, 'Size')),
          lastModified: Date.parse(childText(object, 'LastModified')) / 1000,
          ...optional('etag', childText(object, 'ETag')),
          ...optional('storageClass', childText(object, 'StorageClass')),
        });
      }
      for (const folder of childrenOf(page, 'CommonPrefixes')) {
        isThere = true;
        dirs.push(`s3://${bucket}/${keyOf(folder, 'Prefix').replace(/\/$/, '')}`);
      }
    }
    if (!isThere) {
      throw failure(
        'FILE_NOT_FOUND',
        { url: url.text, reason: 'No such file or directory' },
        {
          url: url.text,
        },
      );
    }
    return { files, dirs, facts };
  }

  async *candidates(pattern: FileUrl, prefix: string): AsyncIterable<string> {
    const rest = prefix.slice('s3://'.length);
    const { bucket, key } = readPlace({ ...pattern, rest });
    for await (const page of this.#pages({ bucket, key }, pattern, {})) {
      const keyOf = keyReader(page);
      for (const object of childrenOf(page, 'Contents')) {
        yield `s3://${bucket}/${keyOf(object, 'Key')}`;
      }
    }
  }

  async *#pages(
    { bucket, key }: S3Place,
    url: FileUrl,
    query: Readonly<Record<string, string>>,
  ): AsyncIterable<XmlElement> {
    let token: string | undefined;
    do {
      const page = await this.#client.sendForXml(
        {
          method: 'GET',
          place: { bucket, key: '' },
          query: {
            'list-type': '2',
            // XML has no way to write some characters that keys may have.
            'encoding-type': 'url',
            prefix: key,
            ...query,
            ...(token === undefined ? {} : { 'continuation-token': token }),
          },
        },
        url,
      );
      yield page;
      const isMore = childText(page, 'IsTruncated') === 'true';
      token = isMore ? childText(page, 'NextContinuationToken') : undefined;
    } while (token);
  }

  /** A reply to HEAD has no body that could say what is wrong, so a refused one is asked again. */
  async #head(place: S3Place, url: FileUrl): Promise<Readonly<Record<string, string>>> {
    try {
      const headers = await this.#client.sendForHeaders({ method: 'HEAD', place }, url);
      return headers as Record<string, string>;
    } catch (error) {
      const status = error instanceof RowanError ? Number(error.details?.status) : 0;
      if (!(status >= 400 && status < 500)) throw error;
      const headers = { range: 'bytes=0-0' };
      const response = await this.#client.send({ method: 'GET', place, headers }, url);
      response.destroy();
      throw error;
    }
  }

  /** Finds a missing bucket and wrong credentials before the work whose result is to be written. */
  async #checkBeforeWork({ bucket }: S3Place, url: FileUrl): Promise<void> {
    const query = { 'list-type': '2', 'max-keys': '0' };
    try {
      await this.#client.sendForXml({ method: 'GET', place: { bucket, key: '' }, query }, url);
    } catch (error) {
      if (!(error instanceof RowanError) || error.code !== 'INVALID_URL') throw error;
      // Who may write need not be allowed to list.
      const { status, reason } = error.details ?? {};
      if (status === 403 && !WRONG_CREDENTIAL.test(String(reason))) return;
      throw error;
    }
  }

  async *#whole(
    object: S3Object,
    options: ReadOptions,
    isKept: boolean,
  ): AsyncIterable<Uint8Array> {
    const { place, url, etag, sizeBytes } = object;
    const cache = isKept && etag !== undefined ? this.#cache : undefined;
    if (cache === undefined || etag === undefined) {
      yield* this.#part(object, 0, sizeBytes, options);
      return;
    }
    const key = await this.#client.addressOf(place, url);
    const copy = await cache.find(key);
    const content =
      copy?.facts.etag === etag && (await copy.checkAndTouch()) ? await copy.read() : undefined;
    yield* content ?? cache.keep(key, { etag }, this.#part(object, 0, sizeBytes, options));
  }

  /** Goes on where a connection broke, as long as the object is the same. */
  async *#part(
    object: S3Object,
    start: number,
    end: number,
    options: ReadOptions,
  ): AsyncIterable<Uint8Array> {
    const { place, url, etag, sizeBytes } = object;
    let resumeCount = 0;
    // True while the reader has the turn, so that its errors are told from those of the connection.
    let isHandedOut = false;
    for (let position = start; position < end; ) {
      const isWhole = position === 0 && end === sizeBytes;
      const headers = {
        ...(isWhole ? {} : { range: `bytes=${position}-${end - 1}` }),
        ...(etag === undefined ? {} : { 'if-match': etag }),
      };
      const response = await this.#client.send({ method: 'GET', place, headers }, url);
      if (!isWhole && response.statusCode !== 206) {
        response.destroy();
        throw s3Failure(url, 'it does not give parts of objects');
      }
      const parts = receiveBody(response, options.failOnStall === true)[Symbol.asyncIterator]();
      try {
        while (position < end) {
          const next = await parts.next();
          if (next.done === true) throw new Error('the object ends early');
          position += next.value.length;
          resumeCount = 0;
          isHandedOut = true;
          yield next.value;
          isHandedOut = false;
        }
      } catch (error) {
        const mayResume = etag !== undefined && !isHandedOut && !(error instanceof StallError);
        if (!mayResume || resumeCount++ === RESUME_COUNT_MAX) {
          throw error instanceof RowanError ? error : s3Failure(url, (error as Error).message);
        }
      } finally {
        await parts.return?.();
      }
    }
  }
}

/** Reads keys of a listing: escaped as in a form when the service says so, which not all do. */
function keyReader(page: XmlElement): (element: XmlElement, name: string) => string {
  if (childText(page, 'EncodingType') !== 'url') return childText;
  return (element, name) => decodePercent(childText(element, name).replaceAll('+', ' '));
}

function optional<K extends string>(name: K, text: string): { readonly [Name in K]?: string } {
  return text === '' ? {} : ({ [name]: text } as { readonly [Name in K]: string });
}
