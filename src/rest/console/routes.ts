// The console: a page for browsers at /, and its files.
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { prefersPage } from '../../service/route/negotiation.ts';
import { jsonReply, type Reply } from '../../service/route/request.ts';
import { type Route, route } from '../../service/route/route.ts';
import { serveFile } from '../../service/route/static-folder.ts';
import { packageFile } from '../../util/package-file.ts';

export interface ConsoleOptions {
  /** what stands before `/doc` in links */
  readonly baseUrl: string;
  readonly hasConsole: boolean;
}

const FOLDER = fileURLToPath(packageFile('dist/console'));

/** What stands in the page where the nonce of a reply goes. */
const NONCE_MARK = '{{nonce}}';

/** Names of files that hold a hash of their content, which never changes then. */
const HASHED_FILE = /-[\w-]{8}\.(js|css)$/;

/** @param options read at each request: a server that listens sets them after the routes exist */
export function consoleRoutes(options: () => ConsoleOptions): Route[] {
  return [
    route({
      verb: 'GET',
      path: '/',
      summary: 'Lists all routes; gives browsers the console',
      role: 'reader',
      isOpenTo: wantsPage,
      lenient: true,
      reply: {
        description: 'all routes and what they do, or the page of the console',
        contentTypes: ['application/json', 'text/html'],
      },
      handle({ headers }, { dispatcher }) {
        if (!wantsPage(headers)) return jsonReply(dispatcher.help(), 200, { Vary: 'Accept' });
        const { hasConsole, baseUrl } = options();
        if (hasConsole) return consolePage();
        return { status: 302, headers: { Location: `${baseUrl}/doc/`, Vary: 'Accept' } };
      },
    }),
    route({
      verb: 'GET',
      path: '/console/*',
      summary: 'The files of the console',
      role: 'open',
      lenient: true,
      reply: { description: 'a file', contentTypes: ['*/*'] },
      async handle(request) {
        const rest = request.params.rest as string;
        if (!options().hasConsole) return { status: 404, text: 'the console is turned off' };
        const reply = await serveFile({ root: FOLDER, rendersMarkdown: false }, rest, request);
        const cacheControl = HASHED_FILE.test(rest)
          ? 'public, max-age=31536000, immutable'
          : 'no-cache';
        const isFound = reply.status < 400;
        return {
          ...reply,
          headers: {
            ...reply.headers,
            ...SAFETY_HEADERS,
            ...(isFound ? { 'Cache-Control': cacheControl } : {}),
          },
        };
      },
    }),
  ];
}

const SAFETY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

function wantsPage(headers: Readonly<Record<string, string>>): boolean {
  return prefersPage(headers.accept);
}

/** The nonce lets the editor and charts add style sheets of their own; scripts come as files only. */
async function consolePage(): Promise<Reply> {
  const nonce = randomBytes(16).toString('base64');
  const page = await readFile(`${FOLDER}/index.html`, 'utf8');
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: {
      ...SAFETY_HEADERS,
      'Cache-Control': 'no-store',
      Vary: 'Accept',
      'Content-Security-Policy': contentPolicy(nonce),
    },
    text: page.replaceAll(NONCE_MARK, nonce),
  };
}

/** Nothing but this server, and no code or style that is written into a page. */
function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
