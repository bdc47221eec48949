// The description of routes: complete, well formed, and its examples run.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { exampleBody, examplePath } from '../../../src/rest/openapi/document.ts';
import type { Route } from '../../../src/service/route/route.ts';

type Json = Record<string, unknown>;

let dataDir: string;
let rowan: Rowan;
let document: Json & {
  paths: Record<string, Record<string, Json & { operationId: string; parameters: Json[] }>>;
  components: { schemas: Record<string, Json> };
};

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'rowan-openapi-'));
  rowan = await Rowan.open({ dataDir });
  document = (await rowan.get('/openapi.json')).json as typeof document;
});

afterAll(async () => {
  await rowan?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

describe('the OpenAPI document', () => {
  test('names version and server', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Rowan', version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
      servers: [{ url: '/' }],
    });
  });

  test('groups all operations, those used most first', () => {
    const tags = (document.tags as { name: string }[]).map(({ name }) => name);
    expect(tags.slice(0, 4)).toEqual(['query', 'datasets', 'procedures', 'functions']);
    const used = operations().flatMap((operation) => operation.tags as string[]);
    expect([...tags].sort()).toEqual([...new Set(used)].sort());
  });

  test('demands no parameter that has a default', async () => {
    const embedding = document.components.schemas['dataset.embedding'] as {
      properties: { params: { properties: Json; required?: string[] } };
    };
    expect(embedding.properties.params.properties.metric).toMatchObject({ default: 'euclidean' });
    expect(embedding.properties.params.required).toBeUndefined();
    const info = (await rowan.get('/v1/types/procedures/export.csv/info')).json;
    expect(info).toMatchObject({ configSchema: { required: ['exportData', 'dataFileUrl'] } });
  });

  test('has every route', () => {
    for (const { verb, path } of rowan.dispatcher.routes) {
      const key = path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');
      expect(document.paths[key]?.[verb.toLowerCase()], `${verb} ${path}`).toBeDefined();
    }
  });

  test('gives each operation an id of its own', () => {
    const ids = operations().map(({ operationId }) => operationId);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([]);
  });

  test('declares every element of a path', () => {
    for (const [path, verbs] of Object.entries(document.paths)) {
      const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const { parameters } of Object.values(verbs)) {
        const declared = parameters.filter((parameter) => parameter.in === 'path');
        expect(declared.map(({ name }) => name)).toEqual(names);
      }
    }
  });

  test('refers to nothing that is missing', () => {
    const references = [...JSON.stringify(document).matchAll(/"#\/([^"]+)"/g)].map((m) => m[1]);
    expect(references.length).toBeGreaterThan(0);
    for (const reference of new Set(references)) {
      let place: unknown = document;
      for (const key of (reference as string).split('/')) place = (place as Json)[key];
      expect(place, reference).toBeDefined();
    }
  });

  test('has a schema of each configuration, chosen by type', () => {
    for (const kind of ['dataset', 'function', 'procedure'] as const) {
      const name = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}Config`;
      const { discriminator } = document.components.schemas[name] as {
        discriminator: { propertyName: string; mapping: Json };
      };
      expect(discriminator.propertyName).toBe('type');
      expect(Object.keys(discriminator.mapping).sort()).toEqual(rowan.service.types.names(kind));
    }
  });

  function operations() {
    return Object.values(document.paths).flatMap((verbs) => Object.values(verbs));
  }
});

describe('examples', () => {
  /** Operations whose example cannot be answered, with what they must say instead. */
  const REFUSED: Readonly<Record<string, [status: number, because: string]>> = {
    ...refusals(['GET', 'PUT', 'DELETE'], '/v1/datasets/:id/routes/*', [
      400,
      'routes of datasets that come with the service are POST alone',
    ]),
    ...refusals(['GET', 'PUT', 'DELETE'], '/v1/functions/:id/routes/*', [
      400,
      'routes of functions that come with the service are POST alone',
    ]),
    ...refusals(['PUT', 'DELETE'], '/v1/types/:class/:type/routes/*', [
      404,
      'routes of types that come with the service are GET and POST alone',
    ]),
    ...refusals(['PUT', 'POST'], '/v1/sensors', [400, 'no type of sensor comes with the service']),
    ...refusals(['PUT'], '/v1/sensors/:id', [400, 'no type of sensor comes with the service']),
    ...refusals(['GET'], '/v1/sensors/:id', [404, 'no sensor']),
    ...refusals(['GET', 'POST', 'PUT', 'DELETE'], '/v1/sensors/:id/routes/*', [404, 'no sensor']),
    ...refusals(['GET'], '/v1/sensors/:id/version', [404, 'no sensor']),
    ...refusals(['GET'], '/v1/sensors/:id/doc/*', [404, 'no sensor']),
    ...refusals(['GET'], '/v1/sensors/:id/static/*', [404, 'no sensor']),
    ...refusals(['GET'], '/v1/plugins/:id/doc/*', [404, 'a plugin given as text has no folder']),
    ...refusals(['GET'], '/v1/plugins/:id/static/*', [404, 'plugins serve files below routes']),
    ...refusals(['GET'], '/v1/keys/:id', [404, 'the service makes the ids of keys']),
    ...refusals(['GET'], '/resources/*', [404, 'there are files with --assets-path alone']),
  };
  /** Operations that do not end, or end the service; tests of their own ask them. */
  const ENDLESS = ['POST /v1/watches', 'POST /v1/shutdown'];

  function refusals(verbs: readonly string[], path: string, refusal: [number, string]) {
    return Object.fromEntries(verbs.map((verb) => [`${verb} ${path}`, refusal]));
  }

  test('run one after the other', { timeout: 60_000 }, async () => {
    const routes = [...rowan.dispatcher.routes].sort((a, b) => orderOf(a) - orderOf(b));
    const failures: string[] = [];
    for (const route of routes.filter((route) => !ENDLESS.includes(nameOf(route)))) {
      const path = examplePath(route);
      const body = exampleBody(route);
      const reply = await rowan.perform(route.verb, path, body === undefined ? {} : { body });
      const [status] = REFUSED[nameOf(route)] ?? [];
      const end = route.summary.startsWith('Redirects') ? 400 : 300;
      if (status === undefined ? reply.status >= end : reply.status !== status) {
        failures.push(`${route.verb} ${path}: ${reply.status} ${reply.text.slice(0, 200)}`);
      }
    }
    expect(failures).toEqual([]);
    const names = routes.map(nameOf);
    expect([...ENDLESS, ...Object.keys(REFUSED)].filter((name) => !names.includes(name))).toEqual(
      [],
    );
  });

  function nameOf({ verb, path }: Route): string {
    return `${verb} ${path}`;
  }

  /** Entities are made before what lies in them, data before it is asked for, and removed last. */
  function orderOf({ verb, path }: Route): number {
    const isLate = path.endsWith('/commit') || path === '/v1/imports';
    const depth = path.split('/').length + (isLate ? 2 : 0);
    if (verb === 'DELETE') return 300 - depth;
    return (verb === 'GET' ? 200 : 100) + depth;
  }
});
