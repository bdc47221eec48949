// What is there before the load begins and must be there after it: a table, functions, a plugin,
// procedures.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Connection } from './connection.mjs';
import { expectStatus } from './expect.mjs';

export const ROW_COUNT = 100_000;
export const GROUP_COUNT = 7;
export const SMALL_FILE_ROW_COUNT = 200;

/** Functions of the fixture, by id. */
export const EXPRESSION = 'twice';
export const QUERY = 'counter';

/** Creates everything. @returns the URLs of a small file and of its directory */
export async function prepare(origin, directory) {
  const connection = new Connection(origin);
  const put = async (path, body) =>
    expectStatus(201, await connection.send('PUT', `/v1/${path}`, body));
  const tableUrl = await writeRows(join(directory, 'table.csv'), ROW_COUNT);
  const smallFileUrl = await writeRows(join(directory, 'small.csv'), SMALL_FILE_ROW_COUNT);
  await put('procedures/load', {
    type: 'import.text',
    params: { dataFileUrl: tableUrl, outputDataset: 'big', runOnCreation: true },
  });
  await put(`functions/${EXPRESSION}`, {
    type: 'sql.expression',
    params: { expression: 'x * 2 + 1 AS y', prepared: true },
  });
  await put(`functions/${QUERY}`, {
    type: 'sql.query',
    params: { query: 'SELECT count(*) AS n FROM big WHERE a < $limit', output: 'FIRST_ROW' },
  });
  await put('plugins/echo', {
    type: 'javascript',
    params: {
      source: {
        main: `plugin.setRequestHandler((path, verb, resource, query) =>
          ({ verb, path: resource, query }));`,
      },
    },
  });
  await put('procedures/script', {
    type: 'script.run',
    params: {
      language: 'javascript',
      scriptConfig: { source: 'mldb.query("SELECT 1 AS x")[0].columns[0][1] + args.n' },
    },
  });
  await put('procedures/slow', { type: 'mock', params: { durationMs: 60_000, refreshRateMs: 20 } });
  await put('procedures/short', { type: 'mock', params: { durationMs: 60, refreshRateMs: 20 } });
  connection.close();
  return { smallFileUrl, directoryUrl: pathToFileURL(directory).href };
}

async function writeRows(path, rowCount) {
  const lines = Array.from(
    { length: rowCount },
    (_, i) => `${i},group ${i % GROUP_COUNT},${(i * 7919) % rowCount}.5`,
  );
  await writeFile(path, `a,b,c\n${lines.join('\n')}\n`);
  return pathToFileURL(path).href;
}
