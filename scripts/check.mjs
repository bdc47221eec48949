// Layout, lint rules and types of the whole project, and exports and packages that nobody uses.

import { buildKernel } from './build-kernel.mjs';
import { installWhenStale, runTool } from './lib.mjs';

/** @returns the number of checks that failed */
export async function check() {
  // Types of the kernels are written when they are compiled.
  if ((await buildKernel()) !== 0) return 1;
  let failedCount = 0;
  if ((await runTool('@biomejs/biome', 'biome', ['check', '--diagnostic-level=error'])) !== 0) {
    failedCount++;
  }
  if ((await runTool('typescript', 'tsc', ['-p', 'tsconfig.json'])) !== 0) failedCount++;
  if ((await runTool('typescript', 'tsc', ['-p', 'console/tsconfig.json'])) !== 0) failedCount++;
  if ((await runTool('knip', 'knip', ['--no-progress'])) !== 0) failedCount++;
  return failedCount;
}

if (process.argv[1] === import.meta.filename) {
  await installWhenStale();
  process.exitCode = (await check()) === 0 ? 0 : 1;
}
