// Adds to package-lock.json the optional packages that npm left out.
//
// Native packages come as one optional package for each platform. When the registry in use does not
// offer all of them, `npm install` writes a lock file without those, which `npm ci` then refuses. Run
// this after adding a package; it changes nothing when the lock file is complete.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from './lib.mjs';

const SYSTEMS = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const PROCESSORS = [
  'arm',
  'arm64',
  'ia32',
  'loong64',
  'mips64el',
  'ppc64',
  'riscv64',
  's390x',
  'wasm32',
  'x64',
];

/** The optional packages that a lock file asks for and lacks. */
export function missingPackages(lock) {
  const missing = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!isPresent(lock, path, name)) missing.push({ name, version, entry });
    }
  }
  return missing;
}

/** Whether a package is found from a place in the tree, by going up as Node does. */
function isPresent(lock, from, name) {
  for (
    let folder = from;
    ;
    folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))
  ) {
    const path = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (lock.packages[path] !== undefined) return true;
    if (folder === '') return false;
  }
}

function completeLock(lock) {
  for (const { name, version, entry } of missingPackages(lock)) {
    const words = name.split(/[-./@]/);
    const os = SYSTEMS.filter((system) => words.includes(system));
    const cpu = PROCESSORS.filter((processor) => words.includes(processor));
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version) || os.length + cpu.length === 0) {
      throw new Error(`cannot tell the version or platform of ${name} ${version}`);
    }
    lock.packages[`node_modules/${name}`] = {
      version,
      ...(cpu.length > 0 ? { cpu } : {}),
      ...(entry.dev ? { dev: true } : {}),
      ...(words.includes('musl') ? { libc: ['musl'] } : {}),
      ...(entry.license === undefined ? {} : { license: entry.license }),
      optional: true,
      ...(os.length > 0 ? { os } : {}),
    };
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, 'en'));
  lock.packages = Object.fromEntries(sorted);
}

if (process.argv[1] === import.meta.filename) {
  const path = join(projectRoot, 'package-lock.json');
  const lock = JSON.parse(readFileSync(path, 'utf8'));
  const missing = missingPackages(lock).map(({ name }) => name);
  if (missing.length > 0) {
    completeLock(lock);
    writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
    console.log(`added ${missing.join(', ')}`);
  }
}
