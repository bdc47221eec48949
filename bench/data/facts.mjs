// Two tables to join: facts have an integer key and a number; nine in ten of them have a partner
// among the 10,000 rows of dim, whose keys differ.

import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomUniforms } from './random.mjs';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Part of the file names: a change of the rows below must change it. */
const VERSION = 1;

const DIM_COUNT = 10_000;
/** Keys from DIM_COUNT on have no partner. */
const KEY_COUNT = Math.round(DIM_COUNT / 0.9);

/** `rowCount` rows of `k` and `x`. @returns the path of the file, written when there is none */
export function factCsv(rowCount) {
  return writeOnce(`fact-v${VERSION}-${rowCount}.csv`, () => {
    const below = source(41);
    const lines = ['k,x'];
    for (let i = 0; i < rowCount; i++) lines.push(`${below(KEY_COUNT)},${below(1000) / 100}`);
    return `${lines.join('\n')}\n`;
  });
}

/** One row for each key that has a partner: `k` and `v`. */
export function dimCsv() {
  return writeOnce(`dim-v${VERSION}.csv`, () => {
    const below = source(42);
    const rows = Array.from({ length: DIM_COUNT }, (_, key) => `${key},${below(100)}`);
    return `k,v\n${rows.join('\n')}\n`;
  });
}

function writeOnce(name, text) {
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.part`;
  writeFileSync(draft, text());
  renameSync(draft, path);
  return path;
}

function source(seed) {
  const uniform = randomUniforms(seed);
  return (count) => Math.floor(uniform() * count);
}
