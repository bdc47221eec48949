// What schemes ask for when an address wants to know who calls.

/** What a rule of credentials may be about. */
export const RESOURCE_TYPES = [
  'aws:s3',
  'sftp',
  'http',
  'mongodb',
  'postgresql',
  'clickhouse',
] as const;
export type ResourceType = (typeof RESOURCE_TYPES)[number];

/** Secrets: never logged, never part of a message or of a reply. */
export interface Credential {
  /** a note on the origin */
  readonly provider?: string;
  readonly protocol?: string;
  /** host[:port] of the service */
  readonly location?: string;
  /** user or key id; "" when there is none */
  readonly id: string;
  /** password, token or secret key */
  readonly secret: string;
  /** for S3: region, endpoint, forcePathStyle, token; for sftp: privateKey */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export interface CredentialSource {
  /** The credential of the rule with the longest prefix of the URL; undefined when none fits. */
  find(type: ResourceType, url: string): Credential | undefined | Promise<Credential | undefined>;
}

/** For a service without credentials. */
export const NO_CREDENTIALS: CredentialSource = { find: () => undefined };
