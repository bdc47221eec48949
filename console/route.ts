// Where the user is: all of it stands behind the hash, so links and Back work and no server sees it.
import { signal } from '@preact/signals';

export interface Place {
  /** decoded elements, for instance ['data', 'my dataset'] */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

export const place = signal<Place>(parsePlace(location.hash));

/** Texts longer than this are deflated in links. */
const PLAIN_TEXT_LENGTH_MAX = 1200;

addEventListener('hashchange', () => {
  place.value = parsePlace(location.hash);
});

export function parsePlace(hash: string): Place {
  const [path = '', query = ''] = splitOnce(hash.replace(/^#\/?/, ''), '?');
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decode),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function splitOnce(text: string, mark: string): string[] {
  const index = text.indexOf(mark);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type Query = Readonly<Record<string, string | undefined>>;

/** The address of a place, for links. */
export function href(path: readonly string[], query: Query = {}): string {
  const given = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const text = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${path.map(encodeURIComponent).join('/')}${text}`;
}

export function go(path: readonly string[], query: Query = {}): void {
  location.hash = href(path, query);
}

/** Changes the address without a step for Back. */
export function replacePlace(path: readonly string[], query: Query = {}): void {
  const address = href(path, query);
  if (address === location.hash) return;
  history.replaceState(null, '', address);
  place.value = parsePlace(address);
}

/** Members of a link's query that hold a text, deflated when it is long. */
export async function packText(text: string): Promise<Query> {
  if (text.length <= PLAIN_TEXT_LENGTH_MAX) return { q: text };
  const packed = await through(
    new TextEncoder().encode(text),
    new CompressionStream('deflate-raw'),
  );
  return { z: base64Url(packed) };
}

export async function unpackText({ q, z }: Query): Promise<string | undefined> {
  if (z === undefined) return q;
  try {
    const bytes = Uint8Array.from(atob(z.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0),
    );
    const plain = await through(bytes, new DecompressionStream('deflate-raw'));
    return new TextDecoder().decode(plain);
  } catch {
    return undefined;
  }
}

async function through(
  bytes: Uint8Array<ArrayBuffer>,
  stream: CompressionStream | DecompressionStream,
): Promise<Uint8Array> {
  const body = new Blob([bytes]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(body).arrayBuffer());
}

function base64Url(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
