// How long the first bytes of a whole table take over HTTP, by format, and rows far behind its beginning;
// and how much memory the process takes while results leave.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rowan } from '../../dist/index.js';
import { airlineCsv } from '../data/airline.mjs';

export const description = 'the first byte of whole tables, and rows behind a large OFFSET';

const FORMATS = ['ndjson', 'csv', 'arrow', 'table'];

export async function prepare({ rowCount }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rowan-bench-first-'));
  await fill(dataDir, rowCount);
  const child = fork(new URL('../serving/kept-server.mjs', import.meta.url), [
    JSON.stringify({ dataDir }),
  ]);
  const ended = once(child, 'exit');
  const [{ port }] = await once(child, 'message');
  const peak = async () => {
    child.send('peak');
    return (await once(child, 'message'))[0] / 1e6;
  };
  const first = (q, format) => async () => ({ value: (await ask(port, q, format)).first });
  const grown = (format) => async () => {
    const before = await peak();
    await ask(port, 'SELECT * FROM air', format);
    return { value: (await peak()) - before };
  };
  const behind = `SELECT * FROM air LIMIT 100 OFFSET ${Math.round(rowCount * 0.98)}`;
  return {
    measures: [
      ...FORMATS.map((format) => ({
        name: `first byte of SELECT * as ${format}`,
        contenders: { rowan: first('SELECT * FROM air', format) },
      })),
      {
        name: 'LIMIT 100 behind 98 % of the rows',
        contenders: { rowan: async () => ({ value: (await ask(port, behind, 'ndjson')).last }) },
      },
      ...FORMATS.map((format) => ({
        ...{ name: `peak grows by all of it as ${format}`, unit: 'MB' },
        contenders: { rowan: grown(format) },
      })),
    ],
    async close() {
      child.kill();
      await ended;
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function fill(dataDir, rowCount) {
  const rowan = await Rowan.open({ dataDir });
  const { status, text } = await rowan.post('/v1/procedures', {
    type: 'import.text',
    params: {
      ...{ dataFileUrl: `file://${airlineCsv(rowCount, 3)}`, runOnCreation: true },
      outputDataset: { id: 'air', type: 'tabular' },
    },
  });
  if (status >= 400) throw new Error(text);
  await rowan.close();
}

/** @returns milliseconds to the first byte of the body and to the last */
function ask(port, q, format) {
  const path = `/v1/query?${new URLSearchParams({ q, format })}`;
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path }, (reply) => {
      if (reply.statusCode !== 200) reject(new Error(`${q}: ${reply.statusCode}`));
      let first;
      reply.on('data', () => {
        first ??= performance.now() - started;
      });
      reply.on('end', () => resolve({ first, last: performance.now() - started }));
    });
    sent.on('error', reject);
    sent.end();
  });
}
