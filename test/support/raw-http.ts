// Requests byte by byte, for those that no client library would send.

import { connect } from 'node:net';

export interface RawReply {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

export interface RawOptions {
  readonly timeoutMs?: number;
  /** sent after the rest, a piece each time the interval is over */
  readonly trickle?: { readonly pieces: readonly string[]; readonly intervalMs: number };
}

/** Sends text as Latin-1, or bytes, and answers the first reply. */
export function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  { timeoutMs = 10_000, trickle }: RawOptions = {},
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' });
    let received = '';
    let feeder: NodeJS.Timeout | undefined;
    const settle = (outcome: RawReply | Error): void => {
      clearTimeout(timer);
      clearInterval(feeder);
      socket.destroy();
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    };
    const timer = setTimeout(
      () => settle(new Error(`no reply in ${timeoutMs} ms, so far: ${received.slice(0, 200)}`)),
      timeoutMs,
    );
    socket.on('error', (error) => settle(parseReply(received) ?? error));
    socket.on('data', (part) => {
      received += part.toString('latin1');
      const reply = parseReply(received);
      if (reply !== undefined) settle(reply);
    });
    socket.on('close', () => settle(parseReply(received) ?? new Error('closed without a reply')));
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    if (trickle === undefined) return;
    const pieces = [...trickle.pieces];
    feeder = setInterval(() => {
      const piece = pieces.shift();
      if (piece !== undefined && socket.writable) socket.write(piece, 'latin1');
    }, trickle.intervalMs);
  });
}

function parseReply(text: string): RawReply | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]);
  const size = /^content-length: (\d+)$/im.exec(head)?.[1];
  const body = text.slice(end + 4);
  if (size !== undefined && body.length < Number(size)) return undefined;
  return { status, head, body };
}
