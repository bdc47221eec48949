// Finds the JavaScript file that a worker thread starts from.

/**
 * The URL of a worker's entry file. Node cannot start a thread from TypeScript, so when the caller
 * itself runs from `src/` (as unit tests do) this is the compiled twin in `dist/`.
 * @param sourcePath path below `src/`, for example `exec/worker.ts`
 */
export function workerFile(sourcePath: string): URL {
  const root = import.meta.url.endsWith('.ts') ? '../../dist/' : '../';
  return new URL(root + sourcePath.replace(/\.ts$/, '.js'), import.meta.url);
}
