// node:http alone, giving one fixed answer when it has read the request: the least that one would
// write by hand.

import { createServer } from 'node:http';

const [, , body] = process.argv;

function answer(response) {
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    answer(response);
    return;
  }
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => answer(response));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => process.send(process.cpuUsage()));
