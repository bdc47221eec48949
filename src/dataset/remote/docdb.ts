// Collections of document databases, read and written.
import { Type } from 'typebox';
import { checkDocdb, docdbConnection } from '../../remote/docdb/docdb-address.ts';
import { DocdbRelation } from '../../remote/docdb/docdb-relation.ts';
import type { DocdbDocument, DocdbRequest } from '../../remote/docdb/docdb-request.ts';
import { failure } from '../../util/error.ts';
import type { Path } from '../../value/path.ts';
import { atomToWire } from '../../value/wire-value.ts';
import { type ContentWriter, datasetType, type WriterContext } from '../dataset-type.ts';
import { NO_ROWS } from '../no-rows.ts';
import type { RecordedRow } from '../recorded-row.ts';

/** Parameters of whatever reaches a collection. */
export const DOCDB_PARAMETERS = {
  uriConnectionScheme: Type.String({
    description:
      'address of the server and database: mongodb://[user@]host[:port]/database; the password is that of a stored credential',
    default: '',
    isNeeded: true,
    aliases: ['connectionScheme'],
  }),
  collection: Type.String({
    description: 'collection of the database',
    default: '',
    isNeeded: true,
  }),
};

const SCHEMA = Type.Object(DOCDB_PARAMETERS);

export const docdbDataset = datasetType({
  name: 'docdb.dataset',
  aliases: ['mongodb.dataset'],
  summary:
    'A collection of a document database (MongoDB), read by each query: a row for each document.',
  parameters: SCHEMA,
  check: ({ uriConnectionScheme, collection }) => checkDocdb(uriConnectionScheme, collection),
  relation: ({ uriConnectionScheme, collection }, access) =>
    new DocdbRelation(uriConnectionScheme, collection, access),
  status: () => 'ok',
});

export const docdbRecord = datasetType({
  name: 'docdb.record',
  aliases: ['mongodb.record'],
  summary:
    'Rows that are recorded become documents of a collection of a document database (MongoDB); it cannot be read.',
  parameters: SCHEMA,
  check: ({ uriConnectionScheme, collection }) => checkDocdb(uriConnectionScheme, collection),
  unreadable: () => 'mongodb.record dataset is record-only',
  recording: {
    visibility: () => 'commit',
    sends: true,
    initialState: null,
    admit(rows) {
      for (const { cells } of rows) for (const [column] of cells) checkColumn(column);
      return { rows, state: null };
    },
    openWriter,
  },
  status: () => 'ok',
});

function checkColumn(column: Path): void {
  const [first = ''] = column.elements;
  if (first.startsWith('$')) {
    throw failure(
      'INVALID_PARAMETER',
      `Keys starting with a dollar sign cannot be recorded to MongoDB: ${column}`,
      { columnName: column.toString() },
    );
  }
  if (column.length > 1 || first.includes('.')) {
    throw failure('INVALID_PARAMETER', `Dotted keys cannot be recorded to MongoDB: ${column}`, {
      columnName: column.toString(),
    });
  }
}

/** Documents that travel together. */
const DOCUMENT_COUNT = 1000;

function openWriter({
  params: { uriConnectionScheme, collection },
  remote,
}: WriterContext<{ uriConnectionScheme: string; collection: string }>): ContentWriter {
  let documents: DocdbDocument[] = [];
  const send = () => {
    if (documents.length === 0) return;
    const request: DocdbRequest = { kind: 'insert', collection, documents };
    const connection = docdbConnection(uriConnectionScheme, remote);
    documents = [];
    remote.execute({ system: 'docdb', connection, request });
  };
  return {
    add(row) {
      documents.push(documentOf(row));
      if (documents.length >= DOCUMENT_COUNT) send();
    },
    finish() {
      send();
      return NO_ROWS;
    },
  };
}

function documentOf({ name, cells }: RecordedRow): DocdbDocument {
  return {
    id: name.toString(),
    fields: cells.map(([column, atom]) => [column.toText(), atomToWire(atom)] as const),
  };
}
