// What tests about the project itself read: its files, as paths from the project's folder.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A module compiled for itself, for threads and processes that a test starts from it. */
export function compiledModule(sourcePath: string): URL {
  return new URL(`../../build/js/${sourcePath.replace(/\.ts$/, '.js')}`, import.meta.url);
}

/** Files under version control, and new ones that are not ignored. */
export function projectFiles(pattern: RegExp): string[] {
  const listing = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: projectRoot,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const paths = [...new Set(listing.split('\n'))].sort();
  return paths.filter((path) => pattern.test(path) && existsSync(join(projectRoot, path)));
}

export function readProjectFile(path: string): string {
  return readFileSync(join(projectRoot, path), 'utf8');
}
