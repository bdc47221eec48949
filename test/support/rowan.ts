// Starts the service for tests, as a program that embeds it would.

/** What these tests use of the in-process API. */
export interface TestService {
  query(sql: string, options: { format: 'full' }): Promise<unknown>;
  perform(verb: string, path: string, options?: { body?: unknown }): Promise<TestReply>;
  listen(options: { host: string; port: number }): Promise<string>;
  close(): Promise<void>;
}

export interface TestReply {
  readonly status: number;
  readonly text: string;
}

/** A service that keeps nothing. */
export async function openRowan(
  options: { columnOrder?: 'select' | 'name'; strictSql?: boolean } = {},
): Promise<TestService> {
  const entry = new URL('../../src/index.ts', import.meta.url).href;
  const library: {
    Rowan: { open(options: { dataDir: null; columnOrder?: string }): Promise<TestService> };
  } = await import(/* @vite-ignore */ entry);
  return library.Rowan.open({ dataDir: null, ...options });
}
