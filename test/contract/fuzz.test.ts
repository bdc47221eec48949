// Values of every kind where routes and types declare others: the answer says what is wrong,
// nothing fails inside, and what was there before is there after.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1, scripts: { timeoutMs: 2000 } });
  await rowan.put('/v1/datasets/d', { type: 'sparse.mutable' });
  await rowan.post('/v1/datasets/d/rows', { rowName: 'r', columns: [['x', 1, 0]] });
  await rowan.post('/v1/datasets/d/commit', {});
  const expression = { expression: 'x + 1 AS y' };
  await rowan.put('/v1/functions/f', { type: 'sql.expression', params: expression });
  await rowan.put('/v1/procedures/p', { type: 'null' });
  await rowan.put('/v1/procedures/p/runs/r', {});
  const main = 'plugin.setRequestHandler((...args) => args)';
  await rowan.put('/v1/plugins/g', { type: 'javascript', params: { source: { main } } });
});

afterAll(() => rowan?.close());

const SCRATCH = 'scratch';
const KINDS = ['datasets', 'functions', 'procedures', 'plugins'];
const KEPT = ['d', 'f', 'p', 'g'];

/** Everything that a refused request must not change; what could not be built may be listed. */
async function state(): Promise<string> {
  const parts: unknown[] = [
    (await rowan.get('/v1/credentials')).json,
    (await rowan.get('/v1/keys')).json,
  ];
  for (const kind of KINDS) {
    for (const id of (await rowan.get(`/v1/${kind}`)).json as string[]) {
      const path = `/v1/${kind}/${encodeURIComponent(id)}`;
      const works =
        KEPT.includes(id) || ((await rowan.get(path)).json as { state: string }).state !== 'error';
      if (works) parts.push(path);
    }
  }
  parts.push((await rowan.get('/v1/datasets/d')).json, (await rowan.get('/v1/functions/f')).json);
  for (const id of (await rowan.get('/v1/procedures/p/runs')).json as string[]) {
    const path = `/v1/procedures/p/runs/${encodeURIComponent(id)}`;
    const { state } = (await rowan.get(path)).json as { state: string };
    if (state !== 'error') parts.push(path);
  }
  return JSON.stringify(parts);
}

interface Sent {
  readonly verb: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Sends it and checks what must hold whatever was sent. @returns the status */
async function send({ verb, path, ...options }: Sent): Promise<number> {
  const before = await state();
  const reply = await rowan.perform(verb, path, options);
  const about = JSON.stringify({ verb, path, ...options, reply: reply.text.slice(0, 500) });
  expect(reply.status, about).toBeLessThan(500);
  if (reply.status < 400) {
    await undo();
    return reply.status;
  }
  if (reply.contentType?.startsWith('application/json') === true) {
    const { error, httpCode, code } = reply.json as Record<string, unknown>;
    expect(httpCode, about).toBe(reply.status);
    expect(error, about).toMatch(/\w/);
    expect(code, about).toMatch(/^[A-Z_]+$/);
    expect(error, about).not.toMatch(/internal error|\[object|is not a function|of undefined/);
  }
  expect(await state(), about).toBe(before);
  return reply.status;
}

/** Takes back what an accepted request has made. */
async function undo(): Promise<void> {
  for (const kind of [...KINDS, 'credentials']) {
    for (const id of (await rowan.get(`/v1/${kind}`)).json as string[]) {
      if (!KEPT.includes(id)) {
        await rowan.delete(`/v1/${kind}/${encodeURIComponent(id)}`);
      }
    }
  }
  for (const { id } of (await rowan.get('/v1/keys')).json as { id: string }[]) {
    await rowan.delete(`/v1/keys/${id}`);
  }
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
}

const VALUES: Readonly<Record<string, unknown>> = {
  string: 'zork',
  integer: 7,
  number: 1.5,
  boolean: true,
  array: [1],
  object: { zork: 1 },
};

/** Kinds of JSON that a schema of one kind takes too. */
const ALSO_TAKEN: Readonly<Record<string, readonly string[]>> = { number: ['integer'] };

function wrongValues({ type }: Schema): unknown[] {
  if (type === undefined || !(type in VALUES)) return [];
  const taken = [type, ...(ALSO_TAKEN[type] ?? [])];
  return Object.entries(VALUES)
    .filter(([kind]) => !taken.includes(kind))
    .map(([, value]) => value);
}

async function typesOf(kind: string): Promise<[string, Schema][]> {
  const types = (await rowan.get(`/v1/types/${kind}?details=true`)).json as [
    string,
    { configSchema: Schema },
  ][];
  return types.map(([name, { configSchema }]) => [name, configSchema]);
}

test.each(KINDS)('parameters of %s of the wrong kind are refused', async (kind) => {
  for (const [type, { properties = {} }] of await typesOf(kind)) {
    for (const [name, schema] of Object.entries(properties)) {
      for (const value of wrongValues(schema)) {
        const body = { type, params: { [name]: value } };
        const status = await send({ verb: 'PUT', path: `/v1/${kind}/${SCRATCH}`, body });
        expect([type, name, value, status]).toEqual([type, name, value, 400]);
      }
    }
  }
});

const json = fc.jsonValue({ maxDepth: 3 });

test.each(KINDS)(
  'parameters of %s of any value do no harm',
  async (kind) => {
    const types = await typesOf(kind);
    const config = fc.constantFrom(...types).chain(([type, { properties = {} }]) =>
      fc.record({
        type: fc.constant(type),
        params: fc.dictionary(fc.constantFrom('zork', ...Object.keys(properties)), json),
      }),
    );
    await fc.assert(
      fc.asyncProperty(config, async (body) => {
        await send({ verb: 'PUT', path: `/v1/${kind}/${SCRATCH}`, body });
      }),
      { numRuns: 150 },
    );
  },
  60_000,
);

interface Operation {
  readonly verb: string;
  readonly path: string;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly takesBody: boolean;
}

/** Streams that end with the client, and the end of the service. */
const LEFT_OUT = ['/v1/watches', '/v1/shutdown'];

async function operations(): Promise<Operation[]> {
  const { paths } = (await rowan.get('/openapi.json')).json as {
    paths: Record<
      string,
      Record<string, { parameters?: { name: string; in: string }[]; requestBody?: unknown }>
    >;
  };
  return Object.entries(paths)
    .filter(([path]) => !LEFT_OUT.includes(path))
    .flatMap(([path, verbs]) =>
      Object.entries(verbs).map(([verb, { parameters = [], requestBody }]) => ({
        verb: verb.toUpperCase(),
        path,
        parameters: parameters.filter((parameter) => parameter.in === 'query'),
        takesBody: requestBody !== undefined,
      })),
    );
}

/** A place in a path: what exists, what does not, and what looks strange. */
const element = fc.oneof(
  fc.constantFrom('d', 'f', 'p', 'g', 'r', 'x', SCRATCH, 'javascript', 'tabular', 'datasets'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }).map(encodeURIComponent),
  fc.constantFrom('%', '%zz', '%ff', '..', '%2e%2e', '%00', '', '__proto__', 'constructor'),
);

const text = fc.oneof(
  fc.constantFrom('', '0', '-1', 'true', 'NaN', '{}', '[]', 'null', '1e999', '9'.repeat(40)),
  fc.string({ maxLength: 8 }),
  json.map((value) => JSON.stringify(value)),
);

/** Members that routes know, with values that they may not. */
const body = fc.oneof(
  json,
  fc.dictionary(
    fc.constantFrom(
      ...['id', 'type', 'params', 'q', 'format', 'input', 'keepValues', 'rowName', 'columns'],
      ...['store', 'role', 'target', 'body', 'state', 'source', 'args', 'columnName', 'rows'],
    ),
    json,
  ),
  fc.array(fc.array(json, { maxLength: 3 }), { maxLength: 3 }),
);

test('routes of any parameters and bodies do no harm', async () => {
  const request = fc.constantFrom(...(await operations())).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      elements: fc.array(element, { minLength: 4, maxLength: 4 }),
      query: fc.dictionary(
        fc.constantFrom('zork', ...operation.parameters.map(({ name }) => name)),
        text,
        { maxKeys: 2 },
      ),
      body: operation.takesBody ? fc.option(body, { nil: undefined }) : fc.constant(undefined),
    }),
  );
  await fc.assert(
    fc.asyncProperty(request, async ({ operation: { verb, path }, elements, query, body }) => {
      const left = [...elements];
      const target = path.replace(/\{\w+\}/g, () => left.pop() as string);
      // What is deleted on purpose is no harm.
      fc.pre(verb !== 'DELETE' || !/\/(d|f|p|g|r)$/.test(target));
      // A replacement of what the other requests use would be none either.
      fc.pre(verb !== 'PUT' || !/\/(d|f|p|g)$/.test(target));
      const sent = { verb, path: target, query };
      const status = await send(body === undefined ? sent : { ...sent, body });
      if (status < 300 && /runs|rows|columns|commit/.test(target)) await renew();
    }),
    { numRuns: 1500 },
  );
}, 120_000);

/** Puts back what accepted requests may have added to. */
async function renew(): Promise<void> {
  for (const id of (await rowan.get('/v1/procedures/p/runs')).json as string[]) {
    if (id !== 'r') await rowan.delete(`/v1/procedures/p/runs/${encodeURIComponent(id)}`);
  }
  await rowan.post('/v1/datasets/d/commit', {});
}
