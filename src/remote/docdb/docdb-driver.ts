// Document databases by the official driver.
import {
  BSON,
  type Collection,
  type Db,
  type Document,
  type Filter,
  MongoClient,
  MongoServerError,
  ObjectId,
} from 'mongodb';
import { failure, RowanError } from '../../util/error.ts';
import type { Driver, Session } from '../driver.ts';
import type { Connection, WireRow } from '../message.ts';
import type { DocdbRequest } from './docdb-request.ts';
import { DocumentReader, documentOf } from './document.ts';

const TIMEOUTS = { connectTimeoutMS: 5000, serverSelectionTimeoutMS: 5000 };
/** Rows that travel together, and the bytes after which they do. */
const BATCH_ROW_COUNT = 1000;
const BATCH_SIZE_ABOUT = 1 << 20;

export const docdbDriver: Driver = {
  async connect(connection, guard) {
    const { uri, database } = connection.options as { uri: string; database: string };
    let client: MongoClient;
    try {
      client = new MongoClient(uri, {
        ...(/[?&]serverSelectionTimeoutMS=/i.test(uri) ? {} : TIMEOUTS),
        lookup: guard.lookup(connection.address),
        appName: 'rowan',
        maxPoolSize: 8,
        bsonRegExp: true,
        promoteBuffers: false,
      });
      for (const { host } of client.options.hosts) guard.checkHost(host ?? '', connection.address);
      await client.connect();
    } catch (thrown) {
      throw connectionFailure(thrown, connection);
    }
    return new DocdbSession(client, client.db(database), connection);
  },
};

class DocdbSession implements Session {
  readonly #client: MongoClient;
  readonly #database: Db;
  readonly #connection: Connection;

  constructor(client: MongoClient, database: Db, connection: Connection) {
    this.#client = client;
    this.#database = database;
    this.#connection = connection;
  }

  async *rows(request: unknown, signal: AbortSignal): AsyncIterable<readonly WireRow[]> {
    const find = request as Extract<DocdbRequest, { kind: 'find' }>;
    const { collection, fields, skip, limit } = find;
    const cursor = this.#collection(collection).find(filterOf(find), {
      // A limit of 0 is none.
      ...(limit === undefined ? {} : { limit }),
      ...(skip === undefined ? {} : { skip }),
      ...(fields === undefined ? {} : { projection: projectionOf(fields) }),
      batchSize: BATCH_ROW_COUNT,
      signal,
    });
    const reader = new DocumentReader();
    let batch: WireRow[] = [];
    let size = 0;
    try {
      for await (const document of cursor) {
        const row = reader.read(document);
        size += sizeAbout(row);
        if (batch.push(row) < BATCH_ROW_COUNT && size < BATCH_SIZE_ABOUT) continue;
        yield batch;
        batch = [];
        size = 0;
      }
    } catch (thrown) {
      throw requestFailure(thrown, this.#connection, `read collection ${collection}`);
    } finally {
      await cursor.close().catch(() => undefined);
    }
    if (batch.length > 0) yield batch;
  }

  async execute(request: unknown): Promise<unknown> {
    const call = request as Exclude<DocdbRequest, { kind: 'find' }>;
    const collection = this.#collection(call.collection);
    try {
      if (call.kind === 'count') return await collection.estimatedDocumentCount();
      // In their order, so that those before a refused one are there.
      await collection.insertMany(call.documents.map(documentOf), { ordered: true });
      return undefined;
    } catch (thrown) {
      throw requestFailure(
        thrown,
        this.#connection,
        `${call.kind} in collection ${call.collection}`,
      );
    }
  }

  #collection(name: string): Collection {
    return this.#database.collection(name);
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

function projectionOf(fields: readonly string[]): Document {
  return Object.fromEntries(fields.map((field) => [field, 1]));
}

function filterOf({
  filter,
  readsTextIds,
}: Extract<DocdbRequest, { kind: 'find' }>): Filter<Document> {
  let parsed: unknown;
  try {
    parsed = BSON.EJSON.parse(filter, { relaxed: readsTextIds === true });
  } catch (thrown) {
    throw failure('INVALID_PARAMETER', `the query is no JSON: ${(thrown as Error).message}`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw failure('INVALID_PARAMETER', 'the query must be a JSON object: a filter document');
  }
  const document = parsed as Filter<Document>;
  const id: unknown = document._id;
  if (readsTextIds === true && typeof id === 'string' && canBeId(id)) {
    const objectId = id.length === 24 ? new ObjectId(id) : new ObjectId(Buffer.from(id, 'latin1'));
    return { ...document, _id: { $in: [objectId, id as unknown as ObjectId] } };
  }
  return document;
}

function canBeId(text: string): boolean {
  return /^[0-9a-f]{24}$/i.test(text) || /^[\0-\xff]{12}$/.test(text);
}

function sizeAbout({ paths, atoms }: WireRow): number {
  let size = 16 * (paths.length + 1);
  for (const atom of atoms) {
    if (typeof atom === 'string') size += atom.length;
    else if (ArrayBuffer.isView(atom)) size += atom.byteLength;
  }
  return size;
}

function connectionFailure(thrown: unknown, { address }: Connection): RowanError {
  if (thrown instanceof RowanError) return thrown;
  const refused = refusalIn(thrown);
  if (refused !== undefined) return refused;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return failure('REMOTE_FAILED', `Could not connect to MongoDB at ${address}: ${message}`, {
    address,
  });
}

/** What the guard of addresses said lies below what the driver makes of it. */
function refusalIn(thrown: unknown): RowanError | undefined {
  for (let error = thrown; error instanceof Error; error = error.cause) {
    if (error instanceof RowanError) return error;
  }
  return undefined;
}

function requestFailure(thrown: unknown, { address }: Connection, what: string): RowanError {
  if (thrown instanceof RowanError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const code = thrown instanceof MongoServerError ? { serverCode: thrown.code } : {};
  return failure('REMOTE_FAILED', `MongoDB could not ${what}: ${message}`, { address, ...code });
}
