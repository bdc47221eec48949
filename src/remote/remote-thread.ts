// The thread of the drivers: it waits for other systems, so that an engine worker, which cannot
// wait for a promise in the middle of a query, waits for a memory cell instead.
import { workerData } from 'node:worker_threads';
import { AddressGuard } from '../file/address-guard.ts';
import { errorBody, failure, RowanError } from '../util/error.ts';
import type { Driver, Session } from './driver.ts';
import type {
  Connection,
  DriversStart,
  FromDrivers,
  RemoteRequest,
  RemoteSystem,
  ToDrivers,
  WireRow,
} from './message.ts';

/** Drivers are large, so each is loaded at its first use. */
const DRIVERS: Readonly<Record<RemoteSystem, () => Promise<Driver>>> = {
  clickhouse: async () => (await import('./clickhouse/clickhouse-driver.ts')).clickhouseDriver,
  docdb: async () => (await import('./docdb/docdb-driver.ts')).docdbDriver,
  postgresql: async () => (await import('./postgresql/postgresql-driver.ts')).postgresqlDriver,
};

/** Connections that nobody used for this long are closed. */
const IDLE_MS = 60_000;

const { port, replies, allowsPrivate } = workerData as DriversStart;
const guard = new AddressGuard(allowsPrivate);

interface OpenSession {
  readonly session: Promise<Session>;
  userCount: number;
  idle: NodeJS.Timeout | undefined;
}

const sessions = new Map<string, OpenSession>();
const aborts = new Map<number, AbortController>();

/** Rows on their way: the next batch is fetched while the one before it is worked on. */
interface Stream {
  readonly batches: AsyncIterator<readonly WireRow[]>;
  readonly request: RemoteRequest;
  next: Promise<IteratorResult<readonly WireRow[]>>;
  release(): void;
}

const streams = new Map<number, Stream>();

port.on('message', (message: ToDrivers) => {
  if (message.type === 'end') void end(message.id);
  else void answer(message);
});

async function answer(message: Exclude<ToDrivers, { type: 'end' }>): Promise<void> {
  const { id } = message;
  try {
    reply({ id, result: await resultOf(message) });
  } catch (thrown) {
    reply({ id, error: errorBody(thrown) });
  }
}

function reply(message: FromDrivers): void {
  port.postMessage(message);
  Atomics.add(replies, 0, 1);
  Atomics.notify(replies, 0);
}

function resultOf(message: Exclude<ToDrivers, { type: 'end' }>): Promise<unknown> {
  if (message.type === 'next') return next(message.stream);
  return message.type === 'open' ? open(message) : execute(message);
}

async function execute(message: RemoteRequest & { readonly id: number }): Promise<unknown> {
  const { session, release } = await use(message);
  const abort = new AbortController();
  aborts.set(message.id, abort);
  try {
    return await session.execute(message.request, abort.signal);
  } catch (thrown) {
    throw withoutSecret(thrown, message.connection);
  } finally {
    aborts.delete(message.id);
    release();
  }
}

async function open(message: RemoteRequest & { readonly id: number }): Promise<undefined> {
  const { session, release } = await use(message);
  const abort = new AbortController();
  aborts.set(message.id, abort);
  const batches = session.rows(message.request, abort.signal)[Symbol.asyncIterator]();
  const first = batches.next();
  // What fails is told to the reader of the batch.
  first.catch(() => undefined);
  streams.set(message.id, { batches, request: message, next: first, release });
  return undefined;
}

async function next(id: number): Promise<readonly WireRow[] | undefined> {
  const stream = streams.get(id);
  if (stream === undefined) return undefined;
  try {
    const { done, value } = await stream.next;
    if (done === true) {
      await end(id);
      return undefined;
    }
    stream.next = stream.batches.next();
    stream.next.catch(() => undefined);
    return value;
  } catch (thrown) {
    await end(id);
    throw withoutSecret(thrown, stream.request.connection);
  }
}

/** Nobody waits for a call or reads a stream any more. */
async function end(id: number): Promise<void> {
  aborts.get(id)?.abort();
  aborts.delete(id);
  const stream = streams.get(id);
  if (stream === undefined) return;
  streams.delete(id);
  await stream.batches.return?.().catch(() => undefined);
  stream.release();
}

async function use({
  system,
  connection,
}: RemoteRequest): Promise<{ readonly session: Session; release(): void }> {
  const key = JSON.stringify([system, connection]);
  const known = sessions.get(key) ?? { session: connect(), userCount: 0, idle: undefined };
  sessions.set(key, known);
  clearTimeout(known.idle);
  known.userCount++;
  try {
    return { session: await known.session, release };
  } catch (thrown) {
    sessions.delete(key);
    throw withoutSecret(thrown, connection);
  }

  async function connect(): Promise<Session> {
    const driver = await DRIVERS[system]();
    return driver.connect(connection, guard);
  }

  function release(): void {
    if (--known.userCount > 0) return;
    known.idle = setTimeout(() => void close(), IDLE_MS).unref();
  }

  async function close(): Promise<void> {
    if (known.userCount > 0 || sessions.get(key) !== known) return;
    sessions.delete(key);
    await (await known.session).close().catch(() => undefined);
  }
}

/** What a driver says may quote the address that it was given, with all that is in it. */
function withoutSecret(thrown: unknown, { secret, address }: Connection): unknown {
  const hide = (text: string) => (secret === '' ? text : text.replaceAll(secret, '***'));
  if (thrown instanceof RowanError) {
    const { code, httpCode, message, details, extra } = thrown;
    return new RowanError(code, httpCode, hide(message), details, extra);
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return failure('REMOTE_FAILED', hide(`${address}: ${message}`));
}
