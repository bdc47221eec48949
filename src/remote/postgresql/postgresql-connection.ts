import type { Credential } from '../../file/credential.ts';
import { failure } from '../../util/error.ts';
import type { Connection } from '../message.ts';
import type { RemoteAccess } from '../remote-access.ts';

export interface PostgresqlPlace {
  readonly host: string;
  readonly port: number;
  readonly databaseName: string;
  readonly ssl: 'prefer' | 'require' | 'disable';
}

/** @throws CREDENTIALS_NOT_FOUND */
export function postgresqlConnection(place: PostgresqlPlace, access: RemoteAccess): Connection {
  const { host, port, databaseName, ssl } = place;
  const address = `postgresql://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const url = databaseName === '' ? address : `${address}/${databaseName}`;
  // A worker is answered at once.
  const credential = access.find('postgresql', url) as Credential | undefined;
  if (credential === undefined) {
    throw failure(
      'CREDENTIALS_NOT_FOUND',
      { type: 'postgresql', url },
      {
        resourceType: 'postgresql',
        url,
      },
    );
  }
  const { id: user, secret: password } = credential;
  return {
    address,
    secret: password,
    options: {
      host,
      port,
      database: databaseName === '' ? user : databaseName,
      user,
      password,
      ssl,
    },
  };
}
