// Signature version 4 from its description ("Authenticating Requests: Using the Authorization Header",
// Amazon S3 API reference), to check what clients send. It shares nothing with what signs.
import { createHash, createHmac } from 'node:crypto';

export interface SignedParts {
  readonly method: string;
  /** as on the request line, escaped */
  readonly path: string;
  /** as on the request line, without `?` */
  readonly query: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** What an Authorization header says; undefined when it is not of this version. */
export function readAuthorization(header: string) {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      header,
    );
  if (match === null) return undefined;
  const [, id = '', date = '', region = '', service = '', names = '', signature = ''] = match;
  return { id, date, region, service, signedHeaders: names.split(';'), signature };
}

/** The signature that the request should bear. */
export function expectedSignature(
  request: SignedParts,
  { date, region, service, signedHeaders }: NonNullable<ReturnType<typeof readAuthorization>>,
  secret: string,
): string {
  const canonical = [
    request.method,
    request.path,
    request.query
      .split('&')
      .filter((part) => part !== '')
      .map((part) => (part.includes('=') ? part : `${part}=`))
      .sort()
      .join('&'),
    ...signedHeaders.map((name) => `${name}:${(request.headers[name] ?? '').trim()}`),
    '',
    signedHeaders.join(';'),
    request.headers['x-amz-content-sha256'] ?? '',
  ].join('\n');
  const text = [
    'AWS4-HMAC-SHA256',
    request.headers['x-amz-date'],
    `${date}/${region}/${service}/aws4_request`,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n');
  const key = [date, region, service, 'aws4_request'].reduce<Buffer | string>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac('sha256', key).update(text).digest('hex');
}
