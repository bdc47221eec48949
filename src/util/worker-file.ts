// The JavaScript file that a worker thread starts from, and how.
import { packageFile } from './package-file.ts';

/**
 * The URL of a worker's entry file. Node cannot start a thread from TypeScript, so it is always the
 * bundled one in `dist/`, also when the caller runs from `src/` as unit tests do.
 * @param sourcePath path below `src/`, as a literal: the bundler makes an entry of each that it finds
 */
export function workerFile(sourcePath: string): URL {
  return packageFile(`dist/${sourcePath.replace(/\.ts$/, '.js')}`);
}

/**
 * Options that every thread is started with. One inherits those of the process, but a program given
 * as text has some that a thread with a file refuses.
 */
export function threadOptions(): { readonly execArgv?: string[] } {
  const isText = process.execArgv.some((option) => option.startsWith('--input-type'));
  return isText ? { execArgv: [] } : {};
}
