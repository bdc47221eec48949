// What the service holds, cached by path. A cache entry is refreshed while somebody shows it.
import { type Signal, signal } from '@preact/signals';
import { call, callStream } from './api.ts';
import { key } from './key.ts';

export interface Cached<Value> {
  readonly value: Value | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

const EMPTY: Cached<never> = { value: undefined, error: undefined, isLoading: false };
const REFRESH_MS = 5000;

interface Entry {
  readonly state: Signal<Cached<unknown>>;
  /** when it was last wanted by something on the screen */
  usedAt: number;
  loadedAt: number;
  request: Promise<unknown> | undefined;
}

const entries = new Map<string, Entry>();

/** The JSON of a GET, kept up to date; read inside of a component. */
export function cached<Value>(path: string): Cached<Value> {
  const entry = entryFor(path);
  entry.usedAt = Date.now();
  const { value, error, isLoading } = entry.state.value;
  if (value === undefined && error === undefined && !isLoading) {
    queueMicrotask(() => void reload(path));
  }
  return entry.state.value as Cached<Value>;
}

/** The same for those who wait for it. @throws RowanError */
export async function load<Value>(path: string): Promise<Value> {
  const entry = entryFor(path);
  if (entry.state.peek().value === undefined) await reload(path);
  const { value, error } = entry.state.peek();
  if (value === undefined) throw error;
  return value as Value;
}

export function reload(path: string): Promise<unknown> {
  const entry = entryFor(path);
  entry.request ??= ask(path, entry).finally(() => {
    entry.request = undefined;
  });
  return entry.request;
}

async function ask(path: string, entry: Entry): Promise<void> {
  const { state } = entry;
  state.value = { ...state.peek(), isLoading: true };
  try {
    const value = await call('GET', path, { isSilent: true });
    const isSame = sameJson(value, state.peek().value);
    state.value = {
      value: isSame ? state.peek().value : value,
      error: undefined,
      isLoading: false,
    };
  } catch (error) {
    state.value = { value: state.peek().value, error, isLoading: false };
  }
  entry.loadedAt = Date.now();
}

function entryFor(path: string): Entry {
  let entry = entries.get(path);
  if (entry === undefined) {
    entry = { state: signal<Cached<unknown>>(EMPTY), usedAt: 0, loadedAt: 0, request: undefined };
    entries.set(path, entry);
  }
  return entry;
}

function sameJson(a: unknown, b: unknown): boolean {
  const text = (value: unknown) =>
    JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));
  return a === b || (b !== undefined && text(a) === text(b));
}

/** Asks anew for everything below a path that is on the screen; the rest when it is next shown. */
export function invalidate(prefix: string): void {
  const now = Date.now();
  for (const [path, entry] of entries) {
    if (!path.startsWith(prefix)) continue;
    if (now - entry.usedAt < 60_000 && entry.loadedAt > 0) void reload(path);
    else if (entry.request === undefined) entries.delete(path);
  }
}

/** A call that changes something: what is shown of it is asked for anew. @throws RowanError */
export async function change<Json = unknown>(
  verb: string,
  path: string,
  options: Parameters<typeof call>[2] = {},
): Promise<Json> {
  try {
    return await call<Json>(verb, path, options);
  } finally {
    const collection = /^\/v1\/[^/?]+/.exec(path)?.[0] ?? '/v1';
    invalidate(collection);
    if (collection !== '/v1/datasets') invalidate('/v1/datasets');
    if (collection === '/v1/procedures')
      for (const also of ['/v1/runs', '/v1/functions']) invalidate(also);
  }
}

const LISTS = ['/v1/datasets', '/v1/functions', '/v1/procedures', '/v1/plugins'];

/** Lists change when others work too: who may watch is told, the others ask now and then. */
export async function followLists(): Promise<never> {
  const levels = [
    { channel: 'children', filter: '*' },
    { channel: 'names', filter: '*' },
  ];
  for (;;) {
    try {
      for await (const _change of callStream('POST', '/v1/watches', { body: levels })) {
        for (const path of LISTS) if (entries.has(path)) invalidate(path);
      }
    } catch {
      for (const path of LISTS) if (entries.has(path) && !document.hidden) invalidate(path);
    }
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
  }
}

export function clearCache(): void {
  entries.clear();
}

key.subscribe(clearCache);

export interface TypeInfo {
  readonly description?: string;
  readonly configSchema: Schema;
  readonly flags: readonly string[];
}

/** A JSON schema as the service publishes it. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly title?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema | readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly examples?: readonly unknown[];
  readonly aliases?: readonly string[];
  /** the role of a value, for instance `dataset` or `url` */
  readonly rowan?: string;
}

export type Kind = 'datasets' | 'functions' | 'procedures' | 'plugins';

export function typesOf(kind: Kind): readonly string[] {
  return cached<string[]>(`/v1/types/${kind}`).value ?? [];
}

export function hasType(kind: Kind, name: string): boolean {
  return typesOf(kind).includes(name);
}

export interface EntityDocument {
  readonly id: string;
  readonly type?: string;
  readonly state: string;
  readonly config?: { readonly type?: string; readonly params?: Readonly<Record<string, unknown>> };
  readonly status?: Readonly<Record<string, unknown>>;
  readonly progress?: Readonly<Record<string, unknown>>;
}

export interface RunSummary {
  readonly procedure: string;
  readonly type: string;
  readonly id: string;
  readonly state: string;
  readonly runStarted?: string;
  readonly runFinished?: string;
  readonly progress?: RunProgress;
}

export interface RunProgress {
  readonly steps?: readonly {
    readonly name: string;
    readonly type: string;
    readonly value: number;
    readonly started?: string;
    readonly ended?: string;
  }[];
  readonly percent?: number;
  readonly exception?: { readonly error?: string };
  readonly subProgress?: RunProgress;
}

/** The role of the caller; admin until the service has said. */
export function ownRole(): string {
  return cached<{ role: string }>('/v1/keys/current').value?.role ?? 'admin';
}

const ROLES = ['open', 'reader', 'editor', 'admin'];

export function may(role: 'reader' | 'editor' | 'admin'): boolean {
  return ROLES.indexOf(ownRole()) >= ROLES.indexOf(role);
}

/** The id in a reference, which is a text or a configuration. */
export function idOf(reference: unknown): string | undefined {
  const id =
    typeof reference === 'object' && reference !== null
      ? (reference as { id?: unknown }).id
      : reference;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
