// Brings dist up to date when something has changed: the kernel module first, then declarations
// and modules from the compiler, then the bundle.

import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildConsole } from './build-console.mjs';
import { buildKernel } from './build-kernel.mjs';
import { bundle } from './bundle.mjs';
import {
  fingerprint,
  installWhenStale,
  isFresh,
  listFiles,
  projectRoot,
  runTool,
  withLock,
  writeStamp,
} from './lib.mjs';

/** Each source file as a module of its own, for benchmarks and tests that look inside. */
const MODULES = join('build', 'js');
const STAMP = 'build/dist.stamp';
const STAMP_WITH_ERRORS = 'build/dist-with-errors.stamp';

/**
 * @param options.tolerateTypeErrors take the output of a compilation with type errors as good
 *   enough, as tests do while a type error elsewhere is being worked on
 * @returns the exit code, 0 when dist is up to date
 */
export async function build({ tolerateTypeErrors = false } = {}) {
  const kernelCode = await buildKernel();
  if (kernelCode !== 0) return kernelCode;
  const isUpToDate = (paths) =>
    isFresh(STAMP, paths) || (tolerateTypeErrors && isFresh(STAMP_WITH_ERRORS, paths));
  if (isUpToDate(inputPaths())) return buildConsole();
  const code = await withLock('dist', async () => {
    const paths = inputPaths();
    if (isUpToDate(paths)) return 0;
    const stamp = fingerprint(paths);
    removeOrphans();
    const code = await runTool('typescript', 'tsc', ['-p', 'tsconfig.build.json']);
    if (code !== 0 && !tolerateTypeErrors) return code;
    await bundle({ tolerateTypeErrors });
    writeStamp(code === 0 ? STAMP : STAMP_WITH_ERRORS, stamp);
    return 0;
  });
  return code === 0 ? buildConsole() : code;
}

function isInput(path) {
  return /\.(ts|json)$/.test(path) && !path.includes(join('kernel', 'assembly'));
}

function inputPaths() {
  const configs = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];
  return [...configs, 'scripts/bundle.mjs', ...listFiles('src', isInput)];
}

/** Removes the output of source files that are gone, and starts afresh when the output itself is. */
function removeOrphans() {
  const outputs = listFiles(MODULES, (path) => path.endsWith('.js'));
  if (outputs.length === 0 || !existsSync(join(projectRoot, 'dist/index.d.ts'))) {
    rmSync(join(projectRoot, 'build/tsc.tsbuildinfo'), { force: true });
    return;
  }
  for (const output of outputs) {
    const stem = output.slice(MODULES.length + 1, -'.js'.length);
    if (existsSync(join(projectRoot, 'src', `${stem}.ts`))) continue;
    rmSync(join(projectRoot, output), { force: true });
    rmSync(join(projectRoot, `${output}.map`), { force: true });
    rmSync(join(projectRoot, 'dist', `${stem}.d.ts`), { force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  await installWhenStale();
  process.exitCode = await build();
}
