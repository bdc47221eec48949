// Rowan with the entities that are named by their paths.

import { Rowan } from '../../dist/index.js';

const rowan = await Rowan.open({ dataDir: null });
for (const [path, config] of JSON.parse(process.argv[2])) {
  const { status, text } = await rowan.put(path, config);
  if (status !== 201) throw new Error(text);
}
const address = await rowan.listen({ host: '127.0.0.1', port: 0 });
process.send({ port: Number(new URL(address).port) });
process.on('message', () => process.send(process.cpuUsage()));
