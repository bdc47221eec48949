// Finds the JavaScript file that a worker thread starts from.
import { packageFile } from './package-file.ts';

/**
 * The URL of a worker's entry file. Node cannot start a thread from TypeScript, so it is always the
 * bundled one in `dist/`, also when the caller runs from `src/` as unit tests do.
 * @param sourcePath path below `src/`, as a literal: the bundler makes an entry of each that it finds
 */
export function workerFile(sourcePath: string): URL {
  return packageFile(`dist/${sourcePath.replace(/\.ts$/, '.js')}`);
}
