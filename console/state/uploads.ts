// Files that the user gives to the service.
import { RowanError } from 'rowan-db/client';
import { base, messageOf, nextCallNumber, note } from './api.ts';
import { cached } from './catalogue.ts';
import { askForKey, keyHeaders } from './key.ts';

export interface Uploaded {
  readonly name: string;
  readonly bytes: number;
  readonly url: string;
}

/** Whether the service takes files. */
export function canUpload(): boolean {
  return cached<unknown[]>('/v1/uploads').value !== undefined;
}

const NAME_LENGTH_MAX = 128;

/** The name of a file as the service takes it. */
export function uploadName(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^\.+/, '');
  return plain.slice(-NAME_LENGTH_MAX).replace(/^\.+/, '') || 'file';
}

/** With a request of the older kind, as only that tells how much was sent. */
export async function uploadFile(
  file: Blob & { readonly name: string },
  {
    onProgress,
    signal,
  }: { readonly onProgress?: (share: number) => void; readonly signal?: AbortSignal } = {},
): Promise<Uploaded> {
  const path = `/v1/uploads/${encodeURIComponent(uploadName(file.name))}`;
  const number = nextCallNumber();
  const shown = { number, verb: 'PUT', path, body: undefined };
  for (;;) {
    const begun = performance.now();
    const { status, text, requestId } = await send(path, file, onProgress, signal);
    note({ ...shown, status, milliseconds: performance.now() - begun, requestId });
    if (status < 300) return JSON.parse(text) as Uploaded;
    const error = errorOf(status, text);
    if (status !== 401 || !(await askForKey(messageOf(error)))) throw error;
  }
}

function send(
  path: string,
  file: Blob,
  onProgress: ((share: number) => void) | undefined,
  signal: AbortSignal | undefined,
): Promise<{ status: number; text: string; requestId: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('PUT', base + path);
    for (const [name, value] of Object.entries(keyHeaders())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) =>
      onProgress?.(total === 0 ? 0 : loaded / total);
    request.onload = () => {
      const requestId = request.getResponseHeader('x-request-id') ?? undefined;
      resolve({ status: request.status, text: request.responseText, requestId });
    };
    request.onerror = () => reject(new RowanError('UNREACHABLE', 503, 'the upload broke off'));
    request.onabort = () => reject(new RowanError('CANCELLED', 409, 'the upload was cancelled'));
    signal?.addEventListener('abort', () => request.abort(), { once: true });
    request.send(file);
  });
}

function errorOf(status: number, text: string): RowanError {
  try {
    return RowanError.fromBody(JSON.parse(text));
  } catch {
    return new RowanError('INTERNAL', status, text || `status ${status}`);
  }
}
