// Addresses of remote files in procedures and scripts: with the credentials of the collection, in
// the threads that do the work.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { S3Server } from '../../support/s3-server.ts';
import { SftpServer } from '../../support/sftp-server.ts';

let rowan: Rowan;
let directory: string;
let s3: S3Server;
let sftp: SftpServer;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-remote-'));
  s3 = await S3Server.start();
  sftp = await SftpServer.start();
  rowan = await Rowan.open({
    dataDir: null,
    workers: 1,
    files: { cache: { directory, sizeBytesMax: 1e6 } },
  });
  await rowan.put('/v1/credentials/s3', {
    store: {
      resourceType: 'aws:s3',
      resource: 's3://data/',
      credential: { ...s3.account, protocol: 'http', location: new URL(s3.origin).host },
    },
  });
  await rowan.put('/v1/credentials/sftp', {
    store: {
      resourceType: 'sftp',
      resource: sftp.origin,
      credential: { id: sftp.user.name, secret: sftp.user.password },
    },
  });
});
afterAll(async () => {
  await rowan.close();
  s3.stop();
  sftp.stop();
  rmSync(directory, { recursive: true, force: true });
});

function run(type: string, params: object) {
  return rowan.perform('POST', '/v1/procedures', {
    body: { type, params: { ...params, runOnCreation: true } },
  });
}

test('are read and written by procedures', async () => {
  s3.put('data/in/1.csv', 'a,b\n1,x\n2,y\n');
  s3.put('data/in/2.csv', 'a,b\n3,z\n');
  const imported = await run('import.text', {
    dataFileUrl: 's3://data/in/*.csv',
    outputDataset: 'rows',
  });
  expect(imported.text).toContain('"rowCount":3');
  const exported = await run('export.csv', {
    exportData: 'SELECT a FROM rows ORDER BY a',
    dataFileUrl: `${sftp.origin}/out/a.csv`,
  });
  expect(exported.status).toBe(201);
  expect(sftp.text('/out/a.csv')).toBe('a\n1\n2\n3\n');
  await run('import.text', { dataFileUrl: `${sftp.origin}/out/a.csv`, outputDataset: 'back' });
  await run('export.csv', {
    exportData: 'SELECT sum(a) AS s FROM back',
    dataFileUrl: 's3://data/out.csv',
  });
  expect(s3.text('data/out.csv')).toBe('s\n6\n');
});

test('are kept as copies by the threads that read them', async () => {
  s3.put('data/kept.csv', 'a\n1\n');
  const params = { dataFileUrl: 's3://data/kept.csv', outputDataset: 'kept' };
  const count = () => s3.calls.filter(({ method, key }) => method === 'GET' && key === 'kept.csv');
  await run('import.text', params);
  await run('import.text', params);
  expect(count()).toHaveLength(1);
  expect(readdirSync(directory).length).toBeGreaterThan(0);
});

test('are refused with 400 and the reason', async () => {
  const reply = await run('export.csv', {
    exportData: 'SELECT 1 AS x FROM (SELECT 1)',
    dataFileUrl: 'sftp://127.0.0.1:1/x.csv',
  });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain('No credentials found for sftp sftp://127.0.0.1:1/x.csv');
});

test('are listed and opened by scripts', async () => {
  s3.put('data/list/a.txt', 'one\n');
  const source = `
    var listing = mldb.ls("s3://data/list");
    ({ dirs: listing.dirs, of: listing.objects["s3://data/list/a.txt"],
       text: mldb.openStream("s3://data/list/a.txt").readLine() })`;
  const reply = await rowan.perform('POST', '/v1/types/plugins/javascript/routes/run', {
    body: { source },
  });
  expect(JSON.parse(reply.text).result).toEqual({
    dirs: [],
    of: { exists: true, lastModified: '2015-10-21T07:28:00Z', size: 4 },
    text: 'one',
  });
});
