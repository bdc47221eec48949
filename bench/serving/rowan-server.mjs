// Rowan with one function to call.

import { Rowan } from '../../dist/index.js';

const rowan = await Rowan.open({ dataDir: null });
const config = JSON.parse(process.argv[2]);
const { status, text } = await rowan.put('/v1/functions/f', config);
if (status !== 201) throw new Error(text);
const address = await rowan.listen({ host: '127.0.0.1', port: 0 });
process.send({ port: Number(new URL(address).port) });
process.on('message', () => process.send(process.cpuUsage()));
