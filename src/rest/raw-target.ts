// Raw UTF-8 in a request target, as some clients send it. Node's parser refuses it, so its bytes
// are escaped and the request is read again, as the only one of its connection.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** What Node says of bytes that are no request. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
  /** of the packet, before the fault */
  readonly bytesParsed?: number;
}

const REQUEST_LINE = /^([A-Z]+ \/\S* HTTP\/1\.[01])\r?$/;
const LINE_FEED = 10;

/** @returns false when something else is wrong with the request */
export function readEscaped(error: ParserError, socket: Socket, server: Server): boolean {
  const escaped = escapedRequest(error);
  if (escaped === undefined) return false;
  for (const event of ['data', 'end', 'timeout', 'drain', 'error']) {
    socket.removeAllListeners(event);
  }
  server.emit('connection', new ResumedConnection(socket, escaped));
  return true;
}

/** The bytes that came, with those of the target escaped; undefined where that is no help. */
function escapedRequest({ code, rawPacket, bytesParsed = 0 }: ParserError): Buffer | undefined {
  if (code !== 'HPE_INVALID_URL' || rawPacket === undefined) return undefined;
  const end = rawPacket.indexOf(LINE_FEED);
  // A fault further on is one of a later request, of whose beginning nothing is known.
  if (end === -1 || bytesParsed > end) return undefined;
  const line = REQUEST_LINE.exec(rawPacket.toString('latin1', 0, end))?.[1];
  if (line === undefined || !/[\x80-\xff]/.test(line)) return undefined;
  const target = line.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`);
  return Buffer.concat([
    Buffer.from(`${target}\r\nConnection: close\r\n`, 'latin1'),
    rawPacket.subarray(end + 1),
  ]);
}

/** A connection whose first bytes were read before. */
class ResumedConnection extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, first: Buffer) {
    super();
    this.#socket = socket;
    this.push(first);
    socket.on('data', (bytes: Buffer) => {
      if (!this.push(bytes)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
    socket.on('timeout', () => this.emit('timeout'));
  }

  setTimeout(milliseconds: number): this {
    this.#socket.setTimeout(milliseconds);
    return this;
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress;
  }

  get bytesWritten(): number {
    return this.#socket.bytesWritten;
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) {
    this.#socket.write(bytes, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }
}
