import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { bindRequest, parseQueryString } from '../../../../src/service/route/parameter-binding.ts';
import type { RouteRequest } from '../../../../src/service/route/request.ts';
import { bytesBody, EMPTY_BODY, valueBody } from '../../../../src/service/route/request-body.ts';
import type { Route } from '../../../../src/service/route/route.ts';
import { Router } from '../../../../src/service/route/router.ts';
import type { RowanError } from '../../../../src/util/error.ts';

const handle = () => ({ status: 200 });
const base = { summary: '', role: 'reader', handle } as const;

const routes: Route[] = [
  { ...base, verb: 'GET', path: '/v1/things' },
  { ...base, verb: 'GET', path: '/v1/things/special' },
  { ...base, verb: 'GET', path: '/v1/things/:id' },
  { ...base, verb: 'PUT', path: '/v1/things/:id' },
  { ...base, verb: 'GET', path: '/v1/things/:id/routes/*', lenient: true },
  {
    ...base,
    verb: 'GET',
    path: '/v1/page',
    query: {
      start: Type.Integer({ default: 0 }),
      name: Type.String(),
      deep: Type.Boolean({ default: false }),
    },
  },
  {
    ...base,
    verb: 'GET',
    path: '/v1/ask',
    hybrid: {
      q: Type.String({ default: '' }),
      input: Type.Unknown({ default: {} }),
      flag: Type.Boolean({ default: true }),
    },
  },
];
const router = new Router(routes);

function bind(verb: string, target: string, body?: unknown) {
  const [path = '', queryString = ''] = target.split('?');
  const request: RouteRequest = {
    verb,
    path,
    query: parseQueryString(queryString),
    body: body === undefined ? EMPTY_BODY : valueBody(body),
    headers: {},
    signal: new AbortController().signal,
    role: 'admin',
    requestId: '0',
  };
  const { route, params } = router.find(verb, path);
  return bindRequest(route, params, { ...request, verb: route.verb });
}

function failureOf(work: () => unknown): RowanError {
  try {
    work();
  } catch (thrown) {
    return thrown as RowanError;
  }
  throw new Error('expected a failure');
}

describe('paths', () => {
  test('an encoded slash belongs to an id, a plus sign is no space', () => {
    expect(bind('GET', '/v1/things/a%2Fb+c').params).toEqual({ id: 'a/b+c' });
  });

  test('the rest of an open path is not decoded', () => {
    expect(bind('GET', '/v1/things/x/routes/a%20b/c').params).toEqual({
      id: 'x',
      rest: '/a%20b/c',
    });
    expect(bind('GET', '/v1/things/x/routes').params.rest).toBe('');
  });

  test('an unknown resource names verb and path, and what is allowed there', () => {
    const error = failureOf(() => bind('DELETE', '/v1/things/x'));
    expect(error.message).toBe('unknown resource DELETE /v1/things/x');
    expect(error.httpCode).toBe(404);
    expect(router.allowedVerbs('/v1/things/x')).toEqual(['GET', 'HEAD', 'PUT']);
    expect(router.allowedVerbs('/v1/zebras')).toEqual([]);
  });

  test('the most specific pattern says which verbs a path has', () => {
    const { path, verb } = bind('GET', '/v1/things/special').route;
    expect([verb, path]).toEqual(['GET', '/v1/things/special']);
    expect(router.allowedVerbs('/v1/things/special')).toEqual(['GET', 'HEAD']);
    expect(failureOf(() => bind('PUT', '/v1/things/special')).httpCode).toBe(404);
  });

  test('HEAD takes the route of GET', () => {
    expect(bind('HEAD', '/v1/things').route.path).toBe('/v1/things');
  });

  test('an element that is no UTF-8 is refused', () => {
    expect(failureOf(() => bind('GET', '/v1/things/%ff')).httpCode).toBe(400);
  });
});

describe('query strings', () => {
  test('plus and %XX are decoded, a key without = is empty', () => {
    expect(parseQueryString('a=1+2&b&c=%C3%A9')).toEqual([
      ['a', '1 2'],
      ['b', ''],
      ['c', 'é'],
    ]);
  });

  test('a malformed escape is refused', () => {
    expect(failureOf(() => parseQueryString('a=%zz')).httpCode).toBe(400);
  });

  test('values are read by their type, the first of two counts', () => {
    expect(bind('GET', '/v1/page?start=-5&start=6&name=x&deep=TRUE').values).toEqual({
      start: -5,
      name: 'x',
      deep: true,
    });
  });

  test.each([
    ['/v1/page?name=x&start=1.5', 'as an integer'],
    ['/v1/page?name=x&start=', 'as an integer'],
    ['/v1/page?name=x&deep=yes', "REST parameter value 'yes' as a boolean."],
    ['/v1/page', 'key name not found in RestParams'],
  ])('%s is refused', (target, message) => {
    expect(failureOf(() => bind('GET', target)).message).toContain(message);
  });

  test('unknown parameters are named with the help of the route', () => {
    const error = failureOf(() => bind('GET', '/v1/things?x=1&y=2'));
    expect(error.message).toBe('Unknown parameter(s) in REST call');
    expect(error.details).toMatchObject({
      unknownParameters: [
        { paramName: 'x', paramValue: '1' },
        { paramName: 'y', paramValue: '2' },
      ],
      verb: 'GET',
      resource: '/v1/things',
    });
  });

  test('a lenient route ignores them', () => {
    expect(bind('GET', '/v1/things/x/routes/y?z=1').params.id).toBe('x');
  });
});

describe('hybrid parameters', () => {
  test('come from the query string, JSON as text', () => {
    const { values } = bind('GET', '/v1/ask?input=%7B%22x%22%3A1%7D&flag=0');
    expect(values).toEqual({ q: '', input: { x: 1 }, flag: false });
  });

  test('or from the body; null is as absent', () => {
    const { values } = bind('GET', '/v1/ask', { q: 'a', input: [1], flag: null });
    expect(values).toEqual({ q: 'a', input: [1], flag: true });
  });

  test('integers of the body keep their digits', () => {
    const request = bind('GET', '/v1/ask', { input: { x: 18446744073709551615n } });
    expect(request.values.input).toEqual({ x: 18446744073709551615n });
  });

  test('but not from both, even if they are different ones', () => {
    const error = failureOf(() => bind('GET', '/v1/ask?flag=1', { q: 'a' }));
    expect(error.message).toBe('You cannot mix query string and body parameters');
    expect(error.code).toBe('MIXED_PARAMETERS');
  });

  test.each([[{}], [null]])('the body %j is no body', (body) => {
    expect(bind('GET', '/v1/ask?q=a', body).values.q).toBe('a');
  });

  test('unknown keys of the body are refused', () => {
    expect(failureOf(() => bind('GET', '/v1/ask', { fromat: 1 })).code).toBe('UNKNOWN_PARAMETER');
  });

  test('a value of the wrong kind names the parameter', () => {
    const error = failureOf(() => bind('GET', '/v1/ask', { q: 5 }));
    expect(error.message).toBe("parameter 'q': String was expected; instead got '5'");
  });
});

describe('bodies', () => {
  test('a byte-order mark and white space are skipped', () => {
    expect(bytesBody(new TextEncoder().encode('\ufeff{"a":1}\r\n')).json()).toEqual({ a: 1 });
    expect(bytesBody(new TextEncoder().encode(' \n')).isEmpty).toBe(true);
  });

  test('what is no JSON is refused with its place', () => {
    const error = failureOf(() => bytesBody(new TextEncoder().encode('{"a":\n x}')).json());
    expect(error.code).toBe('INVALID_JSON');
    expect(error.details).toEqual({ line: 2, column: 2 });
  });
});
