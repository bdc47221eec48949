// The routes of plugins, and those of the plugin type javascript.
import { Type } from 'typebox';
import { parse } from '../schema/parse.ts';
import { jsonReply, type Reply } from '../service/route/request.ts';
import { type BoundRequest, type Route, route } from '../service/route/route.ts';
import { unknownResource } from '../service/route/router.ts';
import type { Service } from '../service/service.ts';
import { failure } from '../util/error.ts';
import type { ModuleExports } from './message.ts';
import type { ScriptRuntime } from './runtime.ts';
import { SCRIPT_CONFIG } from './script-config.ts';

const TYPE_PATH = '/v1/types/plugins/javascript/routes';

const MODULES = ['mldb', 'mldb/unittest'];

/** @param runtime the runtime, once the service has started */
export function pluginRoutes(runtime: () => ScriptRuntime): Route[] {
  return [
    ...(['GET', 'POST', 'PUT', 'DELETE'] as const).map((verb) =>
      route({
        verb,
        path: '/v1/plugins/:id/routes/*',
        summary: 'Requests that a plugin answers',
        role: verb === 'GET' ? 'reader' : 'editor',
        lenient: true,
        reply: { description: 'what the plugin answers', contentTypes: ['*/*'] },
        handle: (request, service) =>
          plugin(request, service).handleRequest(request.params.rest as string, request),
      }),
    ),
    route({
      verb: 'GET',
      path: '/v1/plugins/:id/version',
      summary: 'Where a plugin came from, when that was a repository',
      role: 'reader',
      handle: (request, service) => jsonReply(plugin(request, service).version()),
    }),
    route({
      verb: 'GET',
      path: '/v1/plugins/:id/doc/*',
      summary: 'The documentation of a plugin',
      role: 'reader',
      lenient: true,
      reply: { description: 'a page or file', contentTypes: ['*/*'] },
      handle: (request, service) =>
        plugin(request, service).documentation(request.params.rest as string, request),
    }),
    route({
      verb: 'GET',
      path: '/v1/plugins/:id/static/*',
      summary: 'Files of a plugin; plugins in JavaScript serve theirs below routes',
      role: 'reader',
      lenient: true,
      handle(request, service) {
        plugin(request, service);
        throw unknownResource(request.verb, request.path);
      },
    }),
    route({
      verb: 'POST',
      path: `${TYPE_PATH}/run`,
      summary: 'Runs a program in the sandbox',
      role: 'admin',
      lenient: true,
      body: { description: 'the program and its arguments', schema: SCRIPT_CONFIG },
      reply: {
        description: 'the value of the last statement, and what was logged',
        schema: Type.Object({
          result: Type.Optional(Type.Unknown()),
          logs: Type.Optional(Type.Array(Type.Unknown())),
        }),
      },
      examples: [{ path: `${TYPE_PATH}/run`, body: { source: 'args.x + 1', args: { x: 41 } } }],
      async handle(request) {
        const config = parse(SCRIPT_CONFIG, request.body.json() ?? {}, 'script');
        return jsonReply(await runtime().run(config, { signal: request.signal }));
      },
    }),
    route({
      verb: 'GET',
      path: `${TYPE_PATH}/modules`,
      summary: 'Lists the modules that programs can require',
      role: 'reader',
      lenient: true,
      handle: () => jsonReply(MODULES),
    }),
    route({
      verb: 'GET',
      path: `${TYPE_PATH}/modules/*`,
      summary: 'What a module exports; …/doc.md and …/doc.html are its documentation',
      role: 'reader',
      lenient: true,
      query: { symbol: Type.Optional(Type.String({ description: 'that export only' })) },
      handle: (request) => describeModule(request, runtime()),
    }),
  ];
}

function plugin(request: BoundRequest, service: Service) {
  return service.plugins.get(request.params.id as string);
}

async function describeModule(
  request: BoundRequest<{ readonly symbol?: string }>,
  runtime: ScriptRuntime,
): Promise<Reply> {
  const rest = decodeURIComponent(request.params.rest as string).slice(1);
  const [, name, form] = /^(.*?)(?:\/(doc\.md|doc\.html))?$/.exec(rest) ?? [];
  if (name === undefined || !MODULES.includes(name)) {
    throw unknownResource(request.verb, request.path);
  }
  const module = onlySymbol(await runtime.describeModule(name), request.values.symbol);
  if (form === undefined) return jsonReply(module.exports);
  const markdown = moduleMarkdown(module);
  if (form === 'doc.md') {
    return { status: 200, contentType: 'text/markdown; charset=utf-8', text: markdown };
  }
  const { renderMarkdown } = await import('../service/route/markdown.ts');
  return { status: 200, contentType: 'text/html; charset=utf-8', text: renderMarkdown(markdown) };
}

function onlySymbol(module: ModuleExports, symbol: string | undefined): ModuleExports {
  if (symbol === undefined) return module;
  if (!Object.hasOwn(module.exports, symbol)) {
    throw failure(
      'UNKNOWN_RESOURCE',
      { form: 'export', symbol },
      {
        known: Object.keys(module.exports),
      },
    );
  }
  return { ...module, exports: { [symbol]: module.exports[symbol] } };
}

function moduleMarkdown({ markdown, exports }: ModuleExports): string {
  const sections = Object.entries(exports).map(([name, description]) => {
    const { markdown: text } = description as { markdown?: string };
    return `## ${name}\n\n${text ?? ''}\n`;
  });
  return `${markdown}\n\n${sections.join('\n')}`;
}
