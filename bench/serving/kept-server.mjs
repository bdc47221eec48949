// Rowan over a data directory, with a bound on memory when one is given.

import { Rowan } from '../../dist/index.js';

const { dataDir, memoryBytes } = JSON.parse(process.argv[2]);
const rowan = await Rowan.open({ dataDir, workers: 2, ...(memoryBytes ? { memoryBytes } : {}) });
const address = await rowan.listen({ host: '127.0.0.1', port: 0 });
process.send({ port: Number(new URL(address).port) });
process.on('message', (path) => {
  if (path === 'peak') process.send(process.resourceUsage().maxRSS * 1024);
});
