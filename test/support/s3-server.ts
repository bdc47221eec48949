// A server that speaks S3's protocol as far as files need it, and checks every signature.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectBytes } from '../../src/file/byte-stream.ts';
import { expectedSignature, readAuthorization } from './aws-signature.ts';

export interface S3Object {
  readonly bytes: Buffer;
  readonly etag: string;
}

/** A fault for the first requests that it is asked about: a status, or a broken connection. */
export type Fault = (request: S3Call) => number | 'break' | undefined;

export interface S3Call {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

export class S3Server {
  /** by bucket and key */
  readonly objects = new Map<string, S3Object>();
  readonly buckets = new Set<string>(['data']);
  /** parts by upload */
  readonly uploads = new Map<string, Map<number, Buffer>>();
  readonly calls: S3Call[] = [];
  /** keys of each page of a listing */
  pageSize = 1000;
  region = 'us-east-1';
  account = { id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  token: string | undefined;
  isPublic = false;
  fault: Fault = () => undefined;
  readonly #server: Server;
  #uploadCount = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  static async start(): Promise<S3Server> {
    const server = new S3Server();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  put(name: string, content: string | Buffer): void {
    const bytes = Buffer.from(content);
    this.objects.set(name, { bytes, etag: etagOf(bytes) });
  }

  text(name: string): string | undefined {
    return this.objects.get(name)?.bytes.toString();
  }

  /** Methods and query names of the calls so far, for instance `PUT partNumber uploadId`. */
  get log(): string[] {
    return this.calls.map(({ method, query }) => [method, ...query.keys()].join(' '));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.from(await collectBytes(request));
    const [path = '', search = ''] = (request.url ?? '').split('?');
    const [, bucket = '', ...rest] = path.split('/').map(decodeURIComponent);
    const call: S3Call = {
      method: request.method ?? '',
      bucket,
      key: rest.join('/'),
      query: new URLSearchParams(search),
      headers: request.headers,
    };
    this.calls.push(call);
    const fault = this.fault(call);
    if (typeof fault === 'number') return refuse(response, fault, 'SlowDown');
    const denial = this.#denial(request, body);
    if (denial !== undefined) return refuse(response, 403, denial);
    if (!this.buckets.has(bucket)) return refuse(response, 404, 'NoSuchBucket');
    const shown = fault === 'break' ? breaking(response) : response;
    if (call.key === '') this.#list(call, shown);
    else if (call.method === 'GET' || call.method === 'HEAD') this.#read(call, shown);
    else this.#write(call, body, shown);
  }

  /** The code of an error when the request is not the account's. */
  #denial(request: IncomingMessage, body: Buffer): string | undefined {
    const { headers } = request;
    if (headers.authorization === undefined) return this.isPublic ? undefined : 'AccessDenied';
    const given = readAuthorization(headers.authorization);
    if (given === undefined || given.service !== 's3') return 'AuthorizationHeaderMalformed';
    if (given.id !== this.account.id) return 'InvalidAccessKeyId';
    if (this.token !== headers['x-amz-security-token']) return 'InvalidToken';
    const mustBeSigned = ['host', 'x-amz-content-sha256', 'x-amz-date'];
    if (mustBeSigned.some((name) => !given.signedHeaders.includes(name))) return 'AccessDenied';
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const parts = { method: request.method ?? '', path, query, headers: headers as never };
    if (expectedSignature(parts, given, this.account.secret) !== given.signature) {
      return 'SignatureDoesNotMatch';
    }
    const contentHash = createHash('sha256').update(body).digest('hex');
    return headers['x-amz-content-sha256'] === contentHash
      ? undefined
      : 'XAmzContentSHA256Mismatch';
  }

  #list({ bucket, query }: S3Call, response: ServerResponse): void {
    const prefix = query.get('prefix') ?? '';
    const delimiter = query.get('delimiter');
    const entries = new Map<string, S3Object | undefined>();
    for (const name of [...this.objects.keys()].sort()) {
      const object = this.objects.get(name);
      if (!name.startsWith(`${bucket}/${prefix}`)) continue;
      const key = name.slice(bucket.length + 1);
      const end = delimiter === null ? -1 : key.indexOf(delimiter, prefix.length);
      if (end === -1) entries.set(key, object);
      else entries.set(key.slice(0, end + 1), undefined);
    }
    const start = Number(query.get('continuation-token') ?? 0);
    const count = Math.min(this.pageSize, Number(query.get('max-keys') ?? this.pageSize));
    const all = [...entries];
    const isMore = start + count < all.length && count > 0;
    const items = all.slice(start, start + count).map(([key, object]) => {
      const escaped = encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+');
      return object === undefined
        ? `<CommonPrefixes><Prefix>${escaped}</Prefix></CommonPrefixes>`
        : `<Contents><Key>${escaped}</Key><Size>${object.bytes.length}</Size><LastModified>2015-10-21T07:28:00.000Z</LastModified></Contents>`;
    });
    const next = isMore ? `<NextContinuationToken>${start + count}</NextContinuationToken>` : '';
    response.end(
      `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><EncodingType>url</EncodingType><IsTruncated>${isMore}</IsTruncated>${next}${items.join('')}</ListBucketResult>`,
    );
  }

  #read({ method, bucket, key, headers }: S3Call, response: ServerResponse): unknown {
    const object = this.objects.get(`${bucket}/${key}`);
    if (object === undefined) return refuse(response, 404, 'NoSuchKey');
    if (headers['if-match'] !== undefined && headers['if-match'] !== object.etag) {
      return refuse(response, 412, 'PreconditionFailed');
    }
    const range = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '');
    const bytes = range
      ? object.bytes.subarray(Number(range[1]), Number(range[2]) + 1)
      : object.bytes;
    response.writeHead(range ? 206 : 200, {
      etag: object.etag,
      'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT',
      'content-length': bytes.length,
    });
    response.end(method === 'HEAD' ? undefined : bytes);
  }

  #write({ method, bucket, key, query }: S3Call, body: Buffer, response: ServerResponse): unknown {
    const name = `${bucket}/${key}`;
    const uploadId = query.get('uploadId');
    if (query.has('uploads')) {
      const id = `upload-${++this.#uploadCount}`;
      this.uploads.set(id, new Map());
      response.end(
        `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`,
      );
      return;
    }
    if (uploadId === null) {
      this.put(name, body);
      response.writeHead(200, { etag: etagOf(body) }).end();
      return;
    }
    const parts = this.uploads.get(uploadId);
    if (parts === undefined) return refuse(response, 404, 'NoSuchUpload');
    if (method === 'DELETE') {
      this.uploads.delete(uploadId);
      response.writeHead(204).end();
    } else if (method === 'PUT') {
      parts.set(Number(query.get('partNumber')), body);
      response.writeHead(200, { etag: etagOf(body) }).end();
    } else {
      const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)];
      this.put(name, Buffer.concat(named.map(([, number]) => parts.get(Number(number)) as Buffer)));
      this.uploads.delete(uploadId);
      response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
    }
  }
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

/** With the words that services add, which may repeat what was sent. */
function refuse(response: ServerResponse, status: number, code: string): void {
  const secret = String(response.req.headers.authorization);
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>told: ${secret}</Message></Error>`);
}

/** A reply whose connection ends after half of its body. */
function breaking(response: ServerResponse): ServerResponse {
  const end = response.end.bind(response);
  response.end = ((bytes?: Buffer) => {
    if (bytes === undefined) return end();
    response.write(bytes.subarray(0, bytes.length >> 1), () => response.destroy());
    return response;
  }) as typeof response.end;
  return response;
}
