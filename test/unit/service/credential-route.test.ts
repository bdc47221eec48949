// The collection of credentials over its routes, and after a restart.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

const PATH = '/v1/credentials';
const store = {
  resourceType: 'aws:s3',
  resource: 's3://bucket/',
  credential: { id: 'KEYID77', secret: 's3cr3t77', location: 'host77' },
};
const stored = {
  resourceType: 'aws:s3',
  resource: 's3://bucket/',
  credential: { secret: '<<credentials removed>>' },
};

let dataDir: string;
let rowan: Rowan;
beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rowan-credentials-'));
  rowan = await Rowan.open({ dataDir, workers: 1 });
});
afterEach(async () => {
  await rowan.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('rules', () => {
  test('are made, shown without secrets, and removed', async () => {
    const made = await rowan.put(`${PATH}/a%2Fb`, { store });
    expect([made.status, made.json]).toEqual([201, { stored }]);
    expect(made.headers).toMatchObject({
      location: '/v1/credentials/a%2Fb',
      entitypath: '["credentials","a%2Fb"]',
    });
    expect((await rowan.get(PATH)).json).toEqual(['a/b']);
    expect((await rowan.get(`${PATH}/a%2Fb`)).json).toEqual({ stored });
    expect((await rowan.delete(`${PATH}/a%2Fb`)).status).toBe(204);
    expect((await rowan.delete(`${PATH}/a%2Fb`)).status).toBe(204);
    expect((await rowan.get(`${PATH}/a%2Fb`)).json).toMatchObject({
      httpCode: 404,
      error: "credential entry 'a/b' doesn't exist",
    });
  });

  test('are never overwritten', async () => {
    await rowan.post(PATH, { id: 'one', store });
    const { status, json } = await rowan.put(`${PATH}/one`, { id: 'one', store });
    expect([status, (json as { error: string }).error]).toEqual([
      409,
      "credential entry 'one' already exists",
    ]);
  });

  test('without an id get one from what they say', async () => {
    const first = await rowan.post(PATH, { store });
    expect(first.headers.location).toMatch(/^\/v1\/credentials\/[0-9a-f]{16}$/);
    expect((await rowan.put(PATH, { store })).status).toBe(409);
    expect((await rowan.put(PATH, { store: { ...store, resource: '' } })).status).toBe(201);
  });

  test('come back after a restart', async () => {
    await rowan.put(`${PATH}/kept`, { store });
    expect(readdirSync(join(dataDir, '.credentials'))).toEqual(['kept']);
    await rowan.close();
    rowan = await Rowan.open({ dataDir, workers: 1 });
    expect((await rowan.get(PATH)).json).toEqual(['kept']);
    expect(rowan.service.credentials.find('aws:s3', 's3://bucket/x')?.secret).toBe('s3cr3t77');
  });
});

test.each([
  ['PUT', `${PATH}/x`, undefined, 'PUT to collection'],
  ['PUT', `${PATH}/x`, {}, 'store is missing'],
  ['PUT', `${PATH}/x`, { id: 'y', store }, 'Ambiguous names between route and config'],
  ['PUT', `${PATH}/x`, { store, more: 's3cr3t77' }, 'unknown field more'],
  ['PUT', `${PATH}/`, { store }, 'empty id'],
  ['DELETE', `${PATH}/`, undefined, 'empty id'],
])('%s %s of %j is refused and tells no secret', async (verb, path, body, message) => {
  const { status, text } = await rowan.perform(verb, path, { body });
  expect(status).toBe(400);
  expect(text).toContain(message);
  expect(text).not.toMatch(/KEYID|s3cr3t|host77/);
});

test('only administrators see that there are any', async () => {
  expect((await rowan.as('editor').get(PATH)).status).toBe(403);
});
