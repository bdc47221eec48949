// Addresses of document databases: what may be written in them, and what is added to connect.
import { failure } from '../../util/error.ts';
import type { Connection } from '../message.ts';
import type { RemoteAccess } from '../remote-access.ts';

const ADDRESS = /^(mongodb(?:\+srv)?):\/\/(?:([^@/]*)@)?([^@/?]+)(?:\/([^?]*))?(\?.*)?$/;
const DATABASE_DEFAULT = 'test';

interface Address {
  readonly scheme: string;
  /** undecoded; "" when there is none */
  readonly user: string;
  /** one or several, with ports */
  readonly hosts: string;
  readonly database: string;
  /** with its question mark */
  readonly options: string;
}

/** @throws INVALID_PARAMETER */
export function checkDocdb(uri: string, collection: string): void {
  readAddress(uri);
  if (collection !== '') return;
  throw failure('INVALID_PARAMETER', 'collection is a required property and must not be empty', {
    path: 'params.collection',
  });
}

/** The connection with the name and password of the stored credential, if there is one. */
export function docdbConnection(uri: string, access: RemoteAccess): Connection {
  const { scheme, user, hosts, database, options } = readAddress(uri);
  const host = hosts.split(',')[0] as string;
  const credential = access.find('mongodb', `mongodb://${host}/${database}`) as
    | Awaited<ReturnType<RemoteAccess['find']>>
    | undefined;
  const name = credential === undefined || credential.id === '' ? user : encode(credential.id);
  const secret = credential?.secret ?? '';
  const who = name === '' ? '' : `${name}${secret === '' ? '' : `:${encode(secret)}`}@`;
  return {
    address: `${scheme}://${hosts}/${database}`,
    secret,
    options: { uri: `${scheme}://${who}${hosts}/${database}${options}`, database },
  };
}

function encode(text: string): string {
  return encodeURIComponent(text);
}

function readAddress(uri: string): Address {
  const match = ADDRESS.exec(uri);
  if (match === null) {
    throw failure(
      'INVALID_PARAMETER',
      'uriConnectionScheme is a required property and the minimal uriConnectionScheme format is mongodb://<host>',
      { path: 'params.uriConnectionScheme' },
    );
  }
  const [, scheme = '', user = '', hosts = '', database = '', options = ''] = match;
  if (user.includes(':')) {
    throw failure(
      'INVALID_PARAMETER',
      `uriConnectionScheme must not hold a password: store it as a credential of type mongodb for mongodb://${hosts}`,
      { path: 'params.uriConnectionScheme' },
    );
  }
  return { scheme, user, hosts, database: database || DATABASE_DEFAULT, options };
}
