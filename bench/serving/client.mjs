// A client that costs less than the servers it measures: raw sockets, one request at a time each,
// replies found by their length.

import { connect } from 'node:net';

/**
 * Sends the same request many times over keep-alive connections.
 * @param options.sleeps leaves the core to others while no reply is there
 * @returns the body of the last reply
 */
export async function load({ port, request, connectionCount, requestCount, sleeps = false }) {
  const bytes = Buffer.from(request, 'latin1');
  let sentCount = 0;
  let replyCount = 0;
  let lastReply = '';
  const sockets = [];
  await new Promise((resolve, reject) => {
    const send = (socket) => {
      if (sentCount >= requestCount) return;
      sentCount++;
      socket.write(bytes);
    };
    for (let i = 0; i < connectionCount; i++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let pending = '';
      socket.on('connect', () => send(socket));
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        pending += chunk.toString('latin1');
        const size = replySize(pending);
        if (size === 0 || pending.length < size) return;
        if (!pending.startsWith('HTTP/1.1 200')) reject(new Error(pending));
        lastReply = pending;
        pending = '';
        replyCount++;
        if (replyCount === requestCount) resolve();
        else send(socket);
      });
      sockets.push(socket);
    }
    // This thread never sleeps: waking it would be work that the server is charged for, and the
    // more so the slower the server is.
    const spin = () => {
      if (replyCount < requestCount) setImmediate(spin);
    };
    if (!sleeps) spin();
  });
  for (const socket of sockets) socket.destroy();
  return lastReply.slice(lastReply.indexOf('\r\n\r\n') + 4);
}

/** Bytes of head and body together, 0 while the head is not whole. */
function replySize(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return 0;
  const at = text.toLowerCase().indexOf('content-length: ');
  return end + 4 + Number.parseInt(text.slice(at + 'content-length: '.length), 10);
}
