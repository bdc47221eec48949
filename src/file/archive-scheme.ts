// archive+<url>#<member>: members of zip, tar, 7z and rar files; tar files compressed or not.
import { failure } from '../util/error.ts';
import type { ArchiveEntry } from './archive/entry.ts';
import { sevenZipEntries } from './archive/seven-zip.ts';
import { tarEntries } from './archive/tar.ts';
import { zipEntries } from './archive/zip.ts';
import { codecBySuffix } from './compression.ts';
import type { FileFacts, Listing, ReadOptions, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';
import { lastSuffix } from './url.ts';

export type OpenFile = (url: string, options: ReadOptions) => Promise<SourceFile>;

/** Reads members of archives, and lists them. */
export class ArchiveScheme implements Scheme {
  readonly name = 'archive';
  readonly #open: OpenFile;

  /** @param open opens the archive itself, of whatever scheme it is */
  constructor(open: OpenFile) {
    this.#open = open;
  }

  async open(url: FileUrl, options: ReadOptions): Promise<SourceFile> {
    const [archiveUrl, member] = splitArchiveUrl(url.text);
    if (member === undefined) {
      throw failure('INVALID_URL', `no member is named in ${url.text}; add #<path of the member>`);
    }
    const archive = await this.#open(archiveUrl, options);
    for await (const entry of archiveEntries(archive)) {
      if (entry.name !== member) continue;
      return {
        url: url.text,
        name: member,
        sizeBytes: entry.sizeBytes,
        lastModified: entry.lastModified ?? archive.lastModified,
        // Archives are read again from the start: the search above has passed the member.
        stream: () => memberContent(archive, member, url.text),
      };
    }
    throw failure(
      'FILE_NOT_FOUND',
      { form: 'member', member, url: archiveUrl },
      {
        url: url.text,
      },
    );
  }

  async list(url: FileUrl): Promise<Listing> {
    const facts = await this.#members(splitArchiveUrl(url.text)[0]);
    return { files: [...facts.keys()], dirs: [], facts };
  }

  async *candidates(pattern: FileUrl): AsyncIterable<string> {
    yield* (await this.#members(splitArchiveUrl(pattern.text)[0])).keys();
  }

  async #members(archiveUrl: string): Promise<Map<string, FileFacts>> {
    const archive = await this.#open(archiveUrl, {});
    const members = new Map<string, FileFacts>();
    for await (const { name, sizeBytes, lastModified } of archiveEntries(archive)) {
      members.set(`archive+${archiveUrl}#${name}`, {
        sizeBytes,
        lastModified: lastModified ?? archive.lastModified,
      });
    }
    return members;
  }
}

/** The archive's own URL and the member behind the last `#`. */
export function splitArchiveUrl(text: string): [archiveUrl: string, member: string | undefined] {
  const inner = text.slice('archive+'.length);
  const hash = inner.lastIndexOf('#');
  return hash === -1 ? [inner, undefined] : [inner.slice(0, hash), inner.slice(hash + 1)];
}

/** A `.zip` read without naming a member: it must have exactly one file. */
export async function onlyMemberOfZip(archive: SourceFile): Promise<SourceFile> {
  const names: string[] = [];
  let first: { name: string; sizeBytes: number } | undefined;
  for await (const entry of archiveEntries(archive)) {
    first ??= { name: entry.name, sizeBytes: entry.sizeBytes };
    names.push(entry.name);
  }
  if (first === undefined || names.length > 1) {
    const shown = names.slice(0, 20).join(', ') + (names.length > 20 ? ', ...' : '');
    throw failure(
      'INVALID_URL',
      `${archive.url} has ${names.length} files${names.length > 0 ? `: ${shown}` : ''}; name one as archive+${archive.url}#${first?.name ?? '<member>'}`,
      { url: archive.url, members: names.slice(0, 1000) },
    );
  }
  const { name, sizeBytes } = first;
  return {
    url: archive.url,
    name,
    sizeBytes,
    lastModified: archive.lastModified,
    stream: () => memberContent(archive, name, archive.url),
  };
}

/** Whether a file name ends as those of zip files do. */
export function isZipName(name: string): boolean {
  return lastSuffix(name) === 'zip';
}

async function* memberContent(
  archive: SourceFile,
  member: string,
  url: string,
): AsyncIterable<Uint8Array> {
  for await (const entry of archiveEntries(archive)) {
    if (entry.name !== member) continue;
    yield* await entry.content();
    return;
  }
  throw failure('FILE_NOT_FOUND', { form: 'member', member, url }, { url });
}

function archiveEntries(archive: SourceFile): AsyncIterable<ArchiveEntry> {
  const suffix = lastSuffix(archive.name);
  if (suffix === 'zip' || suffix === 'jar') return zipEntries(archive);
  const bare = codecBySuffix(archive.name) ? archive.name.replace(/\.[^.]*~?$/, '') : archive.name;
  if (lastSuffix(bare) === 'tar' || ['tgz', 'tbz2', 'txz'].includes(suffix)) {
    return tarEntries(archive);
  }
  if (suffix === '7z' || suffix === 'rar') return sevenZipEntries(archive);
  throw failure(
    'INVALID_URL',
    `unknown kind of archive: ${archive.url}; accepted are .zip, .jar, .7z, .rar, .tar, .tar.gz, .tar.bz2, .tar.xz, .tar.zst`,
    { url: archive.url },
  );
}
