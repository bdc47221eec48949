// Credentials that the machine provides: the environment, and a file in the home directory.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Credential } from '../../file/credential.ts';
import type { CredentialRule } from './credential.ts';

const FILE_NAME = '.cloud_credentials';
const DEFAULT_BANDWIDTH_MBPS = 20;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Rules for all S3 addresses, from the usual variables and from `~/.cloud_credentials`. */
export function* ambientRules(
  environment: Environment,
  homeDirectory: string,
): Iterable<CredentialRule> {
  const fromEnvironment = environmentCredential(environment);
  if (fromEnvironment !== undefined) yield s3Rule(fromEnvironment);
  for (const credential of fileCredentials(homeDirectory)) yield s3Rule(credential);
}

function s3Rule(credential: Credential): CredentialRule {
  return {
    resourceType: 'aws:s3',
    resource: '',
    store: {},
    credential,
    expiresAt: Number.POSITIVE_INFINITY,
  };
}

function environmentCredential(environment: Environment): Credential | undefined {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = environment;
  if (!id || !secret) return undefined;
  const extra = Object.entries({
    token: environment.AWS_SESSION_TOKEN,
    region: environment.AWS_REGION || environment.AWS_DEFAULT_REGION,
    endpoint: environment.AWS_ENDPOINT_URL_S3 || environment.AWS_ENDPOINT_URL,
  }).filter(([, value]) => value);
  return { provider: 'environment', id, secret, extra: Object.fromEntries(extra) };
}

/** Lines of: s3, version 1, key id, secret, [bandwidth], [protocol], [host]; separated by tabs. */
function fileCredentials(homeDirectory: string): Credential[] {
  let text: string;
  try {
    text = readFileSync(join(homeDirectory, FILE_NAME), 'utf8');
  } catch {
    return [];
  }
  return text
    .split(/\r?\n/)
    .filter((line) => !line.startsWith('#'))
    .map((line) => line.split('\t').map((field) => field.trim()))
    .filter(([kind, version]) => kind === 's3' && version === '1')
    .map(([, , id = '', secret = '', bandwidth = '', protocol = '', location = '']) => ({
      provider: FILE_NAME,
      id,
      secret,
      ...(protocol === '' ? {} : { protocol }),
      ...(location === '' ? {} : { location }),
      extra: { bandwidthToServiceMbps: Number(bandwidth) || DEFAULT_BANDWIDTH_MBPS },
    }));
}
