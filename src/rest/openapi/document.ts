// The description of all routes in OpenAPI 3.1, from the declarations that check requests.
import { ENTITY_KINDS } from '../../dataset/entity-type.ts';
import { schemaData } from '../../schema/schema-data.ts';
import type { TypeRegistry } from '../../service/entity/type-registry.ts';
import { type Parameter, parametersOf } from '../../service/route/parameter-binding.ts';
import type { Route } from '../../service/route/route.ts';
import { SERVICE_VERSION } from '../../service/route/table/general.ts';
import { EXAMPLE_ELEMENTS, EXAMPLES, type OperationExample } from './examples.ts';
import { acceptedSchema, componentSchemas, configName } from './schemas.ts';

type Json = Record<string, unknown>;

export interface OpenApiOptions {
  readonly baseUrl: string;
}

export function openApiDocument(
  routes: readonly Route[],
  types: TypeRegistry,
  { baseUrl }: OpenApiOptions,
): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}').replace(/\*$/, '{rest}');
    paths[path] ??= {};
    // The first of several routes for the same requests is the one that answers them.
    (paths[path] as Json)[route.verb.toLowerCase()] ??= operation(route);
  }
  return {
    openapi: '3.1.0',
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    info: {
      title: 'Rowan',
      version: SERVICE_VERSION,
      summary: 'A machine-learning data service',
      description:
        'Bring data in, shape it with SQL, train models, and call them as functions. ' +
        'Examples use entities named `example`; those with PUT make them. ' +
        `[Guide and reference](${baseUrl}/doc/).`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl === '' ? '/' : baseUrl }],
    tags: tagsOf(routes),
    security: [{ bearer: [] }, { apiKey: [] }, {}],
    paths,
    components: {
      schemas: componentSchemas(types),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'an API key' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
      responses: {
        Error: {
          description: 'What was wrong, where, and what is accepted',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

function operation(route: Route): Json {
  const example = exampleOf(route);
  const body = requestBody(route, example);
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [tagOf(route)],
    'x-required-role': route.role,
    ...(route.role === 'open' ? { security: [] } : {}),
    parameters: [...pathParameters(route, example), ...queryParameters(route, example)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(route),
    'x-example': {
      path: examplePath(route),
      ...(example.body === undefined ? {} : { body: example.body }),
    },
  };
}

/** Letters and digits of verb and path: unique, because no two routes have both in common. */
export function operationId({ verb, path }: Route): string {
  const words = path.split('/').filter((element) => element !== '');
  const named = words.map((element) => {
    if (element === '*') return 'Rest';
    const parts = element.replace(/^:/, 'by_').split(/[^A-Za-z0-9]+/);
    return parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
  });
  return verb.toLowerCase() + (named.length === 0 ? 'Root' : named.join(''));
}

function exampleOf(route: Route): OperationExample {
  const own = EXAMPLES[`${route.verb} ${route.path}`];
  if (own !== undefined) return own;
  const [declared] = route.examples ?? [];
  return declared?.body === undefined ? {} : { body: declared.body };
}

/** The path of the example with its query string, ready to be sent. */
export function examplePath(route: Route): string {
  const { params = {}, query = {} } = exampleOf(route);
  const element = (name: string) => params[name] ?? EXAMPLE_ELEMENTS[name] ?? 'example';
  const path = route.path
    .replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(element(name)))
    .replace(/\*$/, () => element('rest'));
  const pairs = new URLSearchParams(query).toString();
  return pairs === '' ? path : `${path}?${pairs}`;
}

export function exampleBody(route: Route): unknown {
  return exampleOf(route).body;
}

function pathParameters(route: Route, { params = {} }: OperationExample): Json[] {
  const names = [...route.path.matchAll(/:(\w+)/g)].map((match) => match[1] as string);
  if (route.path.endsWith('*')) names.push('rest');
  return names.map((name) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
    description: name === 'rest' ? 'the rest of the path' : `${name} in the path`,
    example: params[name] ?? EXAMPLE_ELEMENTS[name] ?? 'example',
  }));
}

function queryParameters(route: Route, { query = {} }: OperationExample): Json[] {
  return parametersOf({ ...route.query, ...route.hybrid }).map((parameter) => {
    const { description, ...schema } = parameter.schema;
    return {
      ...{ name: parameter.name, in: 'query', required: parameter.isRequired, description },
      ...(parameter.kind === 'json' ? { content: { 'application/json': { schema } } } : { schema }),
      ...exampleMember(parameter, query[parameter.name]),
    };
  });
}

function exampleMember({ kind }: Parameter, text: string | undefined): Json {
  if (text === undefined) return {};
  return { example: kind === 'json' ? JSON.parse(text) : text };
}

/** Hybrid parameters may come in a body too, which tools send with POST only. */
function requestBody(route: Route, { body: example }: OperationExample): Json | undefined {
  if (route.body !== undefined) {
    const declared = route.body.schema;
    const schema =
      declared === undefined
        ? (configReference(route) ?? {})
        : acceptedSchema(schemaData(declared));
    return {
      description: route.body.description,
      required: /^\/v1\/(datasets|functions|procedures|plugins|sensors)(\/:id)?$/.test(route.path),
      content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
    };
  }
  if (route.hybrid === undefined || route.verb === 'GET') return undefined;
  const parameters = parametersOf(route.hybrid);
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const schema = acceptedSchema({
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    additionalProperties: false,
    ...(required.length === 0 ? {} : { required }),
  });
  return {
    description: 'the parameters, instead of a query string',
    content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
  };
}

function configReference({ path }: Route): Json | undefined {
  const kind = ENTITY_KINDS.find((name) => path === `/v1/${name}s` || path === `/v1/${name}s/:id`);
  if (kind === undefined || kind === 'sensor') return undefined;
  return { $ref: `#/components/schemas/${configName(kind)}` };
}

/** Media types of routes that hand on what is not theirs. */
const ANY_CONTENT = '*/*';

const serverFailure = { '5XX': { $ref: '#/components/responses/Error' } };

function responses(route: Route): Json {
  const schema = route.reply?.schema;
  const description = route.reply?.description ?? 'Success';
  const contentTypes = route.reply?.contentTypes ?? ['application/json'];
  const content = Object.fromEntries(contentTypes.map((type) => [type, { schema: schema ?? {} }]));
  const success: Json = {};
  if (contentTypes.includes(ANY_CONTENT)) {
    // Files and what plugins answer: their failures are texts and pages as well.
    return { '2XX': { description, content }, '4XX': { description, content }, ...serverFailure };
  }
  if (route.verb === 'DELETE') success['204'] = { description: 'Removed, or was not there' };
  else if (/Redirects/.test(route.summary)) success['3XX'] = { description };
  else if (isCreation(route)) {
    success['201'] = {
      ...{ description, content },
      headers: { Location: { description: 'path of what was made', schema: { type: 'string' } } },
    };
  } else success['200'] = { description, content };
  if (route.reply?.mayCreate === true) success['201'] = { description, content };
  return {
    ...success,
    '4XX': { $ref: '#/components/responses/Error' },
    ...serverFailure,
  };
}

function isCreation({ verb, path }: Route): boolean {
  const pattern =
    /^\/v1\/(datasets|functions|procedures|plugins|sensors|credentials|keys)(\/:id)?$/;
  const isRun = /^\/v1\/procedures\/:id\/runs(\/:run)?$/.test(path);
  return (verb === 'PUT' || verb === 'POST') && (isRun || pattern.test(path));
}

function tagOf({ path }: Route): string {
  const [first = '', second = ''] = path.split('/').slice(1);
  return first === 'v1' ? second : 'service';
}

/** In the order in which they are shown, what is used most first; others follow by name. */
const TAGS: Readonly<Record<string, string>> = {
  query: 'SELECT statements on datasets.',
  datasets: 'Rows, columns and values: recorded, made by procedures, or seen through others.',
  procedures: 'Work on datasets, importing and training for instance, and its runs.',
  functions: 'What is computed for one input, a batch or a stream: expressions and models.',
  plugins: 'Scripts with routes of their own.',
  types: 'The types of entities with their parameters.',
  watches: 'Changes as they happen.',
  redirect: 'GET with a body, for clients that cannot send one.',
  credentials: 'What the service shows to others.',
  keys: 'What callers show to the service.',
  health: 'Whether the service works.',
  metrics: 'What the service counts about itself.',
};

function tagsOf(routes: readonly Route[]): Json[] {
  const known = Object.keys(TAGS);
  const others = [...new Set(routes.map(tagOf))].filter((name) => !known.includes(name));
  return [
    ...known.map((name) => ({ name, description: TAGS[name] })),
    ...others.sort().map((name) => ({ name })),
  ];
}
