// Writes an object: in one request when it is small, else in parts that become an object at the end.
import { failure } from '../../util/error.ts';
import type { FileSink } from '../scheme.ts';
import type { FileUrl } from '../url.ts';
import type { S3Place } from './s3-account.ts';
import type { S3Client } from './s3-client.ts';
import { s3Failure } from './s3-client.ts';
import { childText } from './xml.ts';

const FIRST_PART_SIZE = 8 << 20;
const PART_SIZE_MAX = 512 << 20;
/** Parts grow after each so many, so that their number does not limit what can be written. */
const PARTS_OF_ONE_SIZE = 1000;
const PART_COUNT_MAX = 10_000;

interface Part {
  readonly number: number;
  readonly etag: string;
}

/** An object that is being written; it is there when all of it is sent. */
export class S3Upload implements FileSink {
  readonly #client: S3Client;
  readonly #place: S3Place;
  readonly #url: FileUrl;
  readonly #firstPartSize: number;
  #pending: Uint8Array[] = [];
  #pendingSize = 0;
  #uploadId: string | undefined;
  #partCount = 0;
  readonly #parts: Part[] = [];
  /** the part that is on its way; never rejects */
  #sending: Promise<void> = Promise.resolve();
  #error: unknown;

  /** @param options.firstPartSize bytes; services accept no less than 5 MiB */
  constructor(
    client: S3Client,
    place: S3Place,
    url: FileUrl,
    { firstPartSize = FIRST_PART_SIZE }: { readonly firstPartSize?: number } = {},
  ) {
    this.#client = client;
    this.#place = place;
    this.#url = url;
    this.#firstPartSize = firstPartSize;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length; ) {
      const room = this.#partSize() - this.#pendingSize;
      // The caller may use its buffer again.
      const piece = bytes.slice(offset, offset + room);
      this.#pending.push(piece);
      this.#pendingSize += piece.length;
      offset += piece.length;
      if (this.#pendingSize === this.#partSize()) await this.#sendPart();
    }
  }

  async commit(): Promise<void> {
    if (this.#uploadId === undefined) {
      const body = this.#takePending();
      await this.#client.sendForHeaders({ method: 'PUT', place: this.#place, body }, this.#url);
      return;
    }
    try {
      if (this.#pendingSize > 0) await this.#sendPart();
      await this.#sending;
      if (this.#error !== undefined) throw this.#error;
      const body = Buffer.from(completion(this.#parts));
      const query = { uploadId: this.#uploadId };
      const headers = { 'content-type': 'application/xml' };
      await this.#client.sendForXml(
        { method: 'POST', place: this.#place, query, headers, body },
        this.#url,
      );
      this.#uploadId = undefined;
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  async abort(): Promise<void> {
    this.#takePending();
    const uploadId = this.#uploadId;
    this.#uploadId = undefined;
    // A part that arrives after the end of its upload would be kept, and paid for.
    await this.#sending;
    if (uploadId === undefined) return;
    const request = { method: 'DELETE', place: this.#place, query: { uploadId } } as const;
    // The caller already has an error of its own to throw.
    await this.#client.sendForHeaders(request, this.#url).catch(() => undefined);
  }

  /** One part is on its way while the next is filled. */
  async #sendPart(): Promise<void> {
    await this.#sending;
    if (this.#error !== undefined) throw this.#error;
    const number = ++this.#partCount;
    if (number > PART_COUNT_MAX) {
      throw failure('INVALID_URL', `too large for one object: ${this.#url.text}`, {
        url: this.#url.text,
      });
    }
    const uploadId = this.#uploadId ?? (await this.#start());
    this.#uploadId = uploadId;
    const request = {
      method: 'PUT',
      place: this.#place,
      query: { partNumber: String(number), uploadId },
      body: this.#takePending(),
    } as const;
    this.#sending = this.#client.sendForHeaders(request, this.#url).then(
      ({ etag }) => {
        if (etag === undefined) this.#error = s3Failure(this.#url, 'a part came to no ETag');
        else this.#parts.push({ number, etag });
      },
      (error: unknown) => {
        this.#error = error;
      },
    );
  }

  async #start(): Promise<string> {
    const root = await this.#client.sendForXml(
      { method: 'POST', place: this.#place, query: { uploads: '' } },
      this.#url,
    );
    const id = childText(root, 'UploadId');
    if (id === '') throw s3Failure(this.#url, 'it started no upload');
    return id;
  }

  #partSize(): number {
    const doublings = Math.floor(this.#partCount / PARTS_OF_ONE_SIZE);
    return Math.min(this.#firstPartSize * 2 ** doublings, PART_SIZE_MAX);
  }

  #takePending(): Uint8Array {
    const body = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingSize = 0;
    return body;
  }
}

function completion(parts: readonly Part[]): string {
  const list = parts.map(
    ({ number, etag }) =>
      `<Part><PartNumber>${number}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join('')}</CompleteMultipartUpload>`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
