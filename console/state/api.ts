// Calls of the service: one client, one log of what was called, one place where keys are asked for.
import { signal } from '@preact/signals';
import { connect, encodePathElement, type PerformOptions, RowanError } from 'rowan-db/client';
import { jsonText } from './json.ts';
import { askForKey, key, keyHeaders } from './key.ts';

export interface LoggedCall {
  readonly number: number;
  readonly verb: string;
  /** from the root of the service, with its query string */
  readonly path: string;
  readonly body: string | undefined;
  readonly status: number | undefined;
  readonly milliseconds: number | undefined;
  readonly requestId: string | undefined;
}

const CALLS_KEPT_MAX = 200;
const BODY_LENGTH_MAX = 20_000;

/** Where the service is: beside the page, whatever stands before it. */
export const base = new URL('.', location.href.replace(/[#?].*$/, '')).href.replace(/\/$/, '');

export const calls = signal<readonly LoggedCall[]>([]);
/** Whether the last call reached the service. */
export const isReachable = signal(true);
let callCount = 0;

/** What the user asked for; each call is shown in the drawer. */
export const rowan = connect(base, { fetch: (input, init) => loggedFetch(String(input), init) });
/** What screens ask by themselves to stay up to date. */
export const silent = connect(base, { fetch: (input, init) => keyedFetch(input, init) });

export type CallFailure = RowanError & { readonly place?: string };

interface CallOptions extends PerformOptions {
  /** true: not shown among the calls */
  readonly isSilent?: boolean;
}

/** @returns the JSON of a success. @throws RowanError */
export async function call<Json = unknown>(
  verb: string,
  path: string,
  { isSilent = false, ...options }: CallOptions = {},
): Promise<Json> {
  const reply = await (isSilent ? silent : rowan).perform<Json>(verb, path, options);
  if (reply.status >= 400) throw replyError(reply.status, reply.json, reply.text);
  return reply.json;
}

/** The bytes of a success while they come. @throws RowanError */
export function callStream(verb: string, path: string, options: PerformOptions = {}) {
  return silent.performStream(verb, path, options);
}

/** Rows of a query as objects; `_rowName` left out. */
export function queryRows<Row = Record<string, unknown>>(
  sql: string,
  options: CallOptions = {},
): Promise<Row[]> {
  const body = { q: sql, format: 'aos', rowNames: false };
  return call<Row[]>('POST', '/v1/query', { ...options, body });
}

/** The path of an entity. */
export function entityPath(plural: string, id: string, rest = ''): string {
  return `/v1/${plural}/${encodePathElement(id)}${rest}`;
}

/** What the service says of a request that it refuses, of which fetch has the answer. */
export async function refusalOf(response: Response): Promise<RowanError> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // Then the text is all there is.
  }
  return replyError(response.status, json, text);
}

function replyError(status: number, json: unknown, text: string): RowanError {
  const body = json as Parameters<typeof RowanError.fromBody>[0] | undefined;
  if (typeof body?.error === 'string' && typeof body.code === 'string') {
    return RowanError.fromBody(body);
  }
  return RowanError.fromBody({
    error: text || `status ${status}`,
    httpCode: status,
    code: 'INTERNAL',
  });
}

/** Sends the key; where the service wants one, waits for the user and tries again. */
async function keyedFetch(
  input: Parameters<typeof fetch>[0],
  init?: RequestInit,
): Promise<Response> {
  for (;;) {
    const used = key.value;
    let response: Response;
    try {
      response = await fetch(input, {
        ...init,
        headers: { ...toObject(init?.headers), ...keyHeaders() },
      });
    } catch (thrown) {
      if (init?.signal?.aborted !== true) isReachable.value = false;
      throw thrown;
    }
    isReachable.value = true;
    if (response.status !== 401) return response;
    const isNew = key.value !== used;
    if (!isNew && !(await askForKey(await wordsOf(response)))) return response;
  }
}

async function wordsOf(response: Response): Promise<string> {
  const body = (await response
    .clone()
    .json()
    .catch(() => ({}))) as { error?: string };
  return body.error ?? 'the service asks for an API key';
}

async function loggedFetch(url: string, init?: RequestInit): Promise<Response> {
  const number = ++callCount;
  const path = url.startsWith(base) ? url.slice(base.length) : url;
  const begun = performance.now();
  const known = { number, verb: init?.method ?? 'GET', path, body: bodyText(init?.body) };
  const open = { status: undefined, milliseconds: undefined, requestId: undefined };
  note({ ...known, ...open });
  const response = await keyedFetch(url, init);
  note({
    ...known,
    status: response.status,
    milliseconds: performance.now() - begun,
    requestId: response.headers.get('x-request-id') ?? undefined,
  });
  return response;
}

/** Adds a call to the log, or completes it. */
export function note(entry: LoggedCall): void {
  const others = calls.value.filter(({ number }) => number !== entry.number);
  calls.value = [...others, entry].sort((a, b) => a.number - b.number).slice(-CALLS_KEPT_MAX);
}

/** A number for a call that is made elsewhere, for instance by a worker. */
export function nextCallNumber(): number {
  return ++callCount;
}

function toObject(headers: RequestInit['headers']): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}

function bodyText(body: RequestInit['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (!(body instanceof Uint8Array) || body.length > BODY_LENGTH_MAX) return '(file)';
  const text = new TextDecoder().decode(body);
  try {
    return jsonText(JSON.parse(text));
  } catch {
    return text;
  }
}

/** Words for whatever was thrown. Errors of syntax begin with the whole statement, which is seen anyway. */
export function messageOf(thrown: unknown): string {
  const { message, code } = (thrown ?? {}) as { message?: string; code?: string };
  if (message === undefined) return String(thrown);
  return code === 'SQL_SYNTAX' ? message.replace(/^[\s\S]*?:\d+:\d+: (?=\S)/, '') : message;
}
