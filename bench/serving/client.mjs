// A client that costs less than the servers it measures: raw sockets, one request at a time each,
// replies found by their length.

import { connect } from 'node:net';

/**
 * Sends the same request over keep-alive connections for a while.
 * @returns how many were answered, and the body of the last reply
 */
export async function load({ port, request, connectionCount, durationMs }) {
  const bytes = Buffer.from(request, 'latin1');
  let replyCount = 0;
  let lastReply = '';
  let isOver = false;
  const sockets = [];
  const failed = new Promise((_, reject) => {
    for (let i = 0; i < connectionCount; i++) {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let pending = '';
      socket.on('connect', () => socket.write(bytes));
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        pending += chunk.toString('latin1');
        const size = replySize(pending);
        if (size === 0 || pending.length < size) return;
        if (!pending.startsWith('HTTP/1.1 200')) reject(new Error(pending));
        lastReply = pending;
        pending = '';
        replyCount++;
        if (!isOver) socket.write(bytes);
      });
      sockets.push(socket);
    }
  });
  // This thread never sleeps: waking it would be work that the server is charged for, and the
  // more so the slower the server is.
  const spin = () => {
    if (!isOver) setImmediate(spin);
  };
  spin();
  await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, durationMs))]);
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return {
    perSecond: replyCount / seconds,
    body: lastReply.slice(lastReply.indexOf('\r\n\r\n') + 4),
  };
}

/** Bytes of head and body together, 0 while the head is not whole. */
function replySize(text) {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return 0;
  const at = text.toLowerCase().indexOf('content-length: ');
  return end + 4 + Number.parseInt(text.slice(at + 'content-length: '.length), 10);
}
