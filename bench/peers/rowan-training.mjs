// One training of Rowan in a process of its own, as its peers have theirs:
//   node rowan-training.mjs '{"files": {id: path}, "runs": [{type, params}], "quality": {...}}'
// imports the files, times the runs, and prints what they took and how good the model is.

import { readFileSync, writeFileSync } from 'node:fs';
import { open } from '../../build/js/index.js';
import { peakMemory } from './peak-memory.mjs';

const { files, runs, quality } = JSON.parse(process.argv[2]);
const rowan = await open({ dataDir: null });
for (const [id, path] of Object.entries(files)) {
  await run('import.text', {
    dataFileUrl: `file://${path}`,
    outputDataset: { id, type: 'tabular' },
  });
}
// What the import held at its peak does not count.
if (process.platform === 'linux') writeFileSync('/proc/self/clear_refs', '5');
const cpu = process.cpuUsage();
const start = performance.now();
for (const { type, params } of runs) await run(type, params);
const seconds = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage(cpu);
const peakBytes = peakMemory();
const found = quality === undefined ? undefined : await measureQuality(quality);
await rowan.close();
console.log(
  JSON.stringify({ seconds, cpuSeconds: (user + system) / 1e6, peakBytes, quality: found }),
);

async function run(type, params) {
  const reply = await rowan.post('/v1/procedures', {
    type,
    params: { ...params, runOnCreation: true },
  });
  if (reply.status >= 400) throw new Error(reply.text);
  return reply.json.status?.firstRun?.status;
}

/** A number of the status of classifier.test, by its path, or the squares of singular values. */
async function measureQuality({ of, test, model }) {
  if (test !== undefined) {
    const status = await run('classifier.test', test);
    return of.split('.').reduce((part, name) => part[name], status);
  }
  const { singularValues } = JSON.parse(readFileSync(new URL(model), 'utf8'));
  return singularValues.reduce((sum, value) => sum + value * value, 0);
}
