// node:http alone, giving one fixed answer: the least that any server on Node can cost.

import { createServer } from 'node:http';

const [, , body] = process.argv;
const server = createServer((_request, response) => {
  response.writeHead(200, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('message', () => process.send(process.cpuUsage()));
