// Finds the files that are shipped beside the program.
import { existsSync, readFileSync } from 'node:fs';

let root: URL | undefined;

/**
 * The URL of a file or folder of this package.
 * @param path below the package's folder, for example `docs/guide`
 */
export function packageFile(path: string): URL {
  root ??= findRoot();
  return new URL(path, root);
}

/** This code lies at different depths as source, compiled and bundled: the nearest package is ours. */
function findRoot(): URL {
  let folder = new URL('./', import.meta.url);
  while (!existsSync(new URL('package.json', folder))) {
    const parent = new URL('../', folder);
    if (parent.href === folder.href) throw new Error('package.json of rowan-db is missing');
    folder = parent;
  }
  return folder;
}

/** The version of this package. */
export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string })
    .version;
}
