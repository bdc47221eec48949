// Files of a folder as replies: documentation, assets, and what plugins serve.
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { Readable } from 'node:stream';
import type { MacroExpander } from './markdown.ts';
import type { Reply, RouteRequest } from './request.ts';

/** What the documentation of the service does for files beside it. */
export interface PageTools {
  /** replaces {{HTTP_BASE_URL}} in text files */
  readonly baseUrl?: string;
  /** the HTML of a macro `![](%%name args)` in a Markdown file */
  readonly expandMacro?: MacroExpander;
}

export interface StaticFolder extends PageTools {
  /** absolute path of the directory */
  readonly root: string;
  /** true: `x.md` and `x.md.html` are pages made of the Markdown file x.md */
  readonly rendersMarkdown: boolean;
  /** true: bytes are sent as they are */
  readonly isRaw?: boolean;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  mjs: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  json: 'application/json',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  wasm: 'application/wasm',
  txt: 'text/plain; charset=utf-8',
};

const BASE_URL_MARK = '{{HTTP_BASE_URL}}';
const TEXT_SIZE_MAX = 16 << 20;

/**
 * Answers a GET of a file.
 * @param rest the path below the folder, not decoded, with its slash; '' for the folder itself
 */
export async function serveFile(
  folder: StaticFolder,
  rest: string,
  request: Pick<RouteRequest, 'verb' | 'path' | 'headers'>,
): Promise<Reply> {
  const name = decodedPath(rest);
  if (name === undefined || /(^|[/\\])\.\.([/\\]|$)/.test(name) || rest.includes('..')) {
    return textReply(400, 'not dealing with path with .. in it');
  }
  const path = join(folder.root, name);
  const isDirectory = await isDirectoryPath(path);
  if (isDirectory && !name.endsWith('/')) {
    const isPage = /^\/(doc|resources)(\/|$)/.test(request.path);
    const base = isPage ? (folder.baseUrl ?? '') : '';
    return { status: 301, headers: { Location: `${base}${request.path}/` } };
  }
  const fileName = isDirectory ? `${name}index.html` : name;
  if (isDirectory && !(await isFile(join(path, 'index.html')))) {
    return textReply(403, 'Directory listing not allowed');
  }
  if (folder.rendersMarkdown) {
    const page = await markdownPage(folder, fileName);
    if (page !== undefined) return page;
  }
  return sendFile(folder, fileName, request);
}

async function sendFile(
  folder: StaticFolder,
  name: string,
  request: Pick<RouteRequest, 'verb' | 'headers'>,
): Promise<Reply> {
  const path = join(folder.root, name);
  if (!(await isInside(folder.root, path)) || !(await isFile(path))) return missing(name);
  const contentType = contentTypeOf(name);
  const text = folder.isRaw === true ? undefined : await markedText(folder, path, contentType);
  if (text !== undefined) return { status: 200, contentType, text };
  // The library asks for nothing of a request but its method and headers.
  const asked = Object.assign(Readable.from([]), {
    method: request.verb,
    headers: { ...request.headers },
  });
  const encoded = name.split('/').map(encodeURIComponent).join('/');
  const { default: send } = await import('@fastify/send');
  const sent = await send(asked, encoded, {
    root: folder.root,
    contentType: false,
    dotfiles: 'allow',
    index: false,
  });
  if (sent.type === 'error' && sent.statusCode === 404) return missing(name);
  const headers = Object.fromEntries(
    Object.entries(sent.headers).filter(([key]) => !/^content-(length|type)$/i.test(key)),
  );
  const isEmpty = sent.statusCode === 304 || request.verb === 'HEAD' || sent.type !== 'file';
  if (isEmpty) {
    sent.stream.destroy();
    return { status: sent.statusCode, headers };
  }
  return { status: sent.statusCode, headers, contentType, stream: sent.stream };
}

/** A text file that names the base URL, with the URL in it. */
async function markedText(
  folder: StaticFolder,
  path: string,
  contentType: string,
): Promise<string | undefined> {
  if (!/^text\/|json|svg/.test(contentType)) return undefined;
  if ((await stat(path)).size > TEXT_SIZE_MAX) return undefined;
  const text = await readFile(path, 'utf8');
  return text.includes(BASE_URL_MARK)
    ? text.replaceAll(BASE_URL_MARK, folder.baseUrl ?? '')
    : undefined;
}

async function markdownPage(folder: StaticFolder, name: string): Promise<Reply | undefined> {
  const source = /^(.*\.md)(?:\.html)?$/.exec(name)?.[1];
  if (source === undefined) return undefined;
  const path = join(folder.root, source);
  if (!(await isInside(folder.root, path)) || !(await isFile(path))) return missing(name);
  const { renderMarkdown } = await import('./markdown.ts');
  const markdown = (await readFile(path, 'utf8')).replaceAll(BASE_URL_MARK, folder.baseUrl ?? '');
  return {
    status: 200,
    contentType: CONTENT_TYPES.html as string,
    text: renderMarkdown(markdown, folder.expandMacro),
  };
}

function contentTypeOf(name: string): string {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  return Object.hasOwn(CONTENT_TYPES, extension)
    ? (CONTENT_TYPES[extension] as string)
    : 'application/octet-stream';
}

function decodedPath(rest: string): string | undefined {
  try {
    const name = decodeURIComponent(rest);
    return name.includes('\0') ? undefined : name;
  } catch {
    return undefined;
  }
}

/** Symbolic links that leave the folder lead nowhere. */
async function isInside(root: string, path: string): Promise<boolean> {
  try {
    const [realRoot, realPath] = await Promise.all([realpath(root), realpath(path)]);
    return realPath === realRoot || realPath.startsWith(realRoot + sep);
  } catch {
    return false;
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}

async function isDirectoryPath(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isDirectory(),
    () => false,
  );
}

function missing(name: string): Reply {
  return textReply(404, `File '${name.replace(/^\//, '')}' doesn't exist`);
}

function textReply(status: number, text: string): Reply {
  return { status, text, contentType: 'text/plain; charset=utf-8' };
}
