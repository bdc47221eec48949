// Who follows a store reads a dataset once, and then what was committed since.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { LastContents } from '../../../../src/service/persist/last-contents.ts';
import { StoredRecords } from '../../../../src/service/persist/stored-records.ts';
import { valueBody } from '../../../../src/service/route/request-body.ts';
import type { Service } from '../../../../src/service/service.ts';

let directory: string;
let rowan: Rowan;
let service: Service;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-last-'));
  rowan = await Rowan.open({ dataDir: directory, workers: 1 });
  ({ service } = rowan);
});

afterAll(async () => {
  await rowan.close();
  rmSync(directory, { recursive: true, force: true });
});

async function ok(verb: string, path: string, body?: unknown): Promise<void> {
  const { status, text } = await service.dispatcher
    .dispatch({
      ...{ verb, path, query: [], headers: {}, role: 'admin', requestId: 'r' },
      ...{ body: valueBody(body), signal: new AbortController().signal },
    })
    .then((reply) => ({ status: reply.status, text: JSON.stringify(reply.json) }));
  expect(status < 300 ? '' : text).toBe('');
}

test('commits are put on top of what was read, whatever became of the file', async () => {
  await ok('PUT', '/v1/datasets/d', { type: 'sparse.mutable' });
  const records = new StoredRecords(service.catalogue);
  const contents = new LastContents(service.engine.snapshots);
  const { storeId } = service.datasets.get('d');
  const rowCount = async () => {
    const record = records.entity('dataset', 'd');
    const kept = records.kept(storeId);
    if (record === undefined || kept === undefined) throw new Error('d is kept');
    const follower = service.restoreTarget.builder.keptDataset(record, kept, contents);
    const { snapshot } = await follower.loaded();
    follower.dispose();
    return snapshot.rowCount;
  };
  const commit = async (rowName: string) => {
    await ok('POST', '/v1/datasets/d/rows', { rowName, columns: [['n', 1, 0]] });
    await ok('POST', '/v1/datasets/d/commit', {});
  };
  await commit('a');
  expect(await rowCount()).toBe(1);
  const first = contents.get(storeId);
  expect(await rowCount()).toBe(1);
  expect(contents.get(storeId)?.content).toEqual(first?.content);
  await commit('b');
  await commit('c');
  expect(records.kept(storeId)?.parts(first?.committed)).toMatchObject({ isOnTop: true });
  expect(records.kept(storeId)?.parts(first?.committed).batches).toHaveLength(2);
  expect(records.kept(storeId)?.parts().batches).toHaveLength(3);
  expect(await rowCount()).toBe(3);
  // A file that holds more than what was read takes its place.
  expect(records.kept(storeId)?.parts(99)).toMatchObject({ isOnTop: false });
  contents.drop(storeId);
  expect(await rowCount()).toBe(3);
});
