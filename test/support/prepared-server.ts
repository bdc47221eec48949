// A server with one prepared function, for tests that speak to its connections byte by byte.
import { Rowan } from '../../src/index.ts';

/** Of the function `x AS y`. */
export const APPLICATION_PATH = '/v1/functions/f/application';

export interface PreparedServer {
  readonly rowan: Rowan;
  readonly port: number;
  close(): Promise<void>;
}

export async function startPreparedServer(): Promise<PreparedServer> {
  const rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const params = { expression: 'x AS y', prepared: true };
  await rowan.put('/v1/functions/f', { type: 'sql.expression', params });
  const { port } = new URL(await rowan.listen({ port: 0 }));
  return { rowan, port: Number(port), close: () => rowan.close() };
}
