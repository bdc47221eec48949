// What the scripts share. Only Node's own modules: these run before dependencies are installed.

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = dirname(dirname(fileURLToPath(import.meta.url)));

/** All files below `folder` (relative to the project) that `accept` takes, sorted by path. */
export function listFiles(folder, accept = () => true) {
  const found = [];
  const visit = (directory) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (accept(path)) found.push(relative(projectRoot, path));
    }
  };
  const start = join(projectRoot, folder);
  if (existsSync(start)) visit(start);
  return found.sort();
}

/**
 * A text that changes when one of the files is changed, added or removed. Modification times and
 * sizes are compared for equality, so restoring an older file counts as a change.
 */
export function fingerprint(paths) {
  const lines = [`node ${process.versions.modules}`];
  for (const path of paths) {
    const file = statSync(join(projectRoot, path));
    lines.push(`${path} ${file.mtimeMs} ${file.size}`);
  }
  return lines.join('\n');
}

export function isFresh(stampPath, paths) {
  const stamp = join(projectRoot, stampPath);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprint(paths);
}

export function writeStamp(stampPath, content) {
  const stamp = join(projectRoot, stampPath);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, content);
}

/** Runs a command in the project, its output passed through, and answers its exit code. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: projectRoot, stdio: 'inherit', ...options });
    child.on('error', reject);
    child.on('exit', (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}

/** Runs a JavaScript program of an installed package, for example `('typescript', 'tsc')`. */
export function runTool(packageName, binName, args) {
  const folder = join(projectRoot, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const path = join(folder, typeof bin === 'string' ? bin : bin[binName]);
  return run(process.execPath, [path, ...args]);
}

/** Installs the dependencies when they are missing or older than the lock file. */
export async function installWhenStale() {
  requireNode();
  const installed = join(projectRoot, 'node_modules', '.package-lock.json');
  const lock = join(projectRoot, 'package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  console.log('installing dependencies ...');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const shell = process.platform === 'win32';
  const code = await run(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { shell });
  if (code !== 0) throw new Error(`npm ci failed with exit code ${code}`);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  throw new Error(`Node.js 20.19 or newer is needed, this is ${process.versions.node}`);
}

const LOCK_WAIT_MS = 100;
const LOCK_AGE_MS_MAX = 300_000;

/** Runs `task` while no other process of this project runs one under the same name. */
export async function withLock(name, task) {
  const folder = join(projectRoot, 'build', `${name}.lock`);
  mkdirSync(dirname(folder), { recursive: true });
  for (;;) {
    try {
      mkdirSync(folder);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      removeAbandonedLock(folder);
      await new Promise((resolve) => setTimeout(resolve, LOCK_WAIT_MS));
    }
  }
  try {
    writeFileSync(join(folder, 'pid'), String(process.pid));
    return await task();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function removeAbandonedLock(folder) {
  try {
    const ageMs = Date.now() - statSync(folder).mtimeMs;
    const pidFile = join(folder, 'pid');
    const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8')) : 0;
    if (ageMs > LOCK_AGE_MS_MAX || (pid > 0 && !isAlive(pid))) {
      rmSync(folder, { recursive: true, force: true });
    }
  } catch (error) {
    if (error.code !== 'ENOENT') throw error; // its owner has just released it
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
