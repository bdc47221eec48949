// One keep-alive connection that costs less than what it measures: a raw socket, one request at a
// time, replies found by their length or their chunks.
import { connect } from 'node:net';

export class Connection {
  #origin;
  #socket;
  #pending = Buffer.alloc(0);
  #settle;

  /** @param origin scheme, host and port */
  constructor(origin) {
    this.#origin = new URL(origin);
  }

  /**
   * @param body sent as it is when it is text, else as JSON
   * @returns status, headers with lower-case names, and text
   */
  send(verb, path, body, headers = {}) {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const head = [`${verb} ${path} HTTP/1.1`, `Host: ${this.#origin.host}`];
    for (const [name, value] of Object.entries(headers)) head.push(`${name}: ${value}`);
    if (text !== undefined) head.push(`Content-Length: ${Buffer.byteLength(text)}`);
    return new Promise((resolve, reject) => {
      this.#settle = (error, reply) => {
        this.#settle = undefined;
        if (error === undefined) resolve(reply);
        else reject(new Error(`${verb} ${path}: ${error.message}`));
      };
      this.#socket ??= this.#open();
      this.#socket.write(`${head.join('\r\n')}\r\n\r\n${text ?? ''}`);
    });
  }

  /** Sends a request, and goes away without waiting for the reply. */
  abandon(verb, path, afterMs) {
    const reply = this.send(verb, path).catch(() => undefined);
    setTimeout(() => this.close(), afterMs);
    return reply;
  }

  close() {
    this.#socket?.destroy();
    this.#socket = undefined;
    this.#pending = Buffer.alloc(0);
    this.#settle?.(new Error('the connection was closed'));
  }

  #open() {
    const socket = connect({
      port: Number(this.#origin.port),
      host: this.#origin.hostname,
      noDelay: true,
    });
    socket.on('data', (part) => {
      if (socket === this.#socket) this.#receive(part);
    });
    socket.on('error', (error) => this.#lose(socket, error));
    socket.on('close', () => this.#lose(socket, new Error('the connection was closed')));
    return socket;
  }

  #lose(socket, error) {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    this.#pending = Buffer.alloc(0);
    this.#settle?.(error);
  }

  #receive(part) {
    this.#pending = this.#pending.length === 0 ? part : Buffer.concat([this.#pending, part]);
    const headEnd = this.#pending.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const [statusLine, ...lines] = this.#pending.toString('latin1', 0, headEnd).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const body = this.#body(headEnd + 4, headers);
    if (body === undefined) return;
    this.#pending = this.#pending.subarray(body.end);
    this.#settle?.(undefined, {
      status: Number(statusLine.slice(9, 12)),
      headers,
      text: body.text,
    });
  }

  /** The body from an offset on; undefined while it is not whole. */
  #body(start, headers) {
    if (headers['transfer-encoding'] !== 'chunked') {
      const end = start + Number(headers['content-length'] ?? 0);
      if (this.#pending.length < end) return undefined;
      return { end, text: this.#pending.toString('utf8', start, end) };
    }
    const parts = [];
    for (let at = start; ; ) {
      const lineEnd = this.#pending.indexOf('\r\n', at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(this.#pending.toString('latin1', at, lineEnd), 16);
      const next = lineEnd + 2 + size + 2;
      if (this.#pending.length < next) return undefined;
      if (size === 0) return { end: next, text: Buffer.concat(parts).toString('utf8') };
      parts.push(this.#pending.subarray(lineEnd + 2, lineEnd + 2 + size));
      at = next;
    }
  }
}
