// What one would write by hand with node:http for one function: lines in, lines out, and batches.

import { createServer } from 'node:http';

const FUNCTIONS = {
  named: ({ x, y }) => ({ z: x * 2 + y }),
  sum: (row) => row.reduce((a, b) => a + b, 0),
};
const apply = FUNCTIONS[process.argv[2]];

const server = createServer(async (request, response) => {
  if (request.url.endsWith('/stream')) {
    let rest = '';
    request.setEncoding('utf8');
    for await (const piece of request) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop();
      let out = '';
      for (const line of lines) out += `${JSON.stringify(apply(JSON.parse(line)))}\n`;
      if (!response.write(out)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
    return;
  }
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  const { input } = JSON.parse(Buffer.concat(pieces).toString());
  response.end(JSON.stringify(input.map(apply)));
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
