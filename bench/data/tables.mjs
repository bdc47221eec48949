// Files that learners train on: numbers with a label and a target, and short texts with a label.

import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomNormals, randomUniforms } from './random.mjs';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));
/** Part of the file names: a change of the rows below must change it. */
const VERSION = 1;

/** Columns x0 ..., then `y`, a number, and `late`, 0 or 1, which depend on some of them. */
export function numbersCsv(rowCount, columnCount, seed = 1) {
  return cached(`numbers-v${VERSION}-${rowCount}-${columnCount}-${seed}.csv`, (write) => {
    const normal = randomNormals(seed);
    const names = Array.from({ length: columnCount }, (_, j) => `x${j}`);
    write(`${[...names, 'y', 'late'].join(',')}\n`);
    for (let row = 0; row < rowCount; row++) {
      const x = names.map(() => normal());
      let y = x[0] * x[1] + 0.5 * x[2] - Math.abs(x[3]);
      for (let j = 4; j < Math.min(20, columnCount); j++) y += x[j] / j;
      const late = y + normal() > 0 ? 1 : 0;
      write(`${[...x, y + normal()].map((value) => value.toFixed(5)).join(',')},${late}\n`);
    }
  });
}

/**
 * Columns `label` and `text`: words of a Zipf-like distribution, some of which are told by the label.
 * @param forFastText lines of __label__name and words instead
 */
export function wordsCsv(rowCount, { wordCount, length, seed = 1, forFastText = false }) {
  const kind = forFastText ? 'fasttext' : 'csv';
  const name = `words-v${VERSION}-${rowCount}-${wordCount}-${length}-${seed}.${kind}`;
  return cached(name, (write) => {
    const uniform = randomUniforms(seed);
    if (!forFastText) write('label,text\n');
    for (let row = 0; row < rowCount; row++) {
      const label = Math.floor(uniform() * 10);
      const words = Array.from({ length }, () => {
        const rank = Math.floor(wordCount ** uniform()) - 1;
        const own = uniform() < 0.15 ? rank - (rank % 10) + label : rank;
        return `w${Math.min(own, wordCount - 1)}`;
      });
      const separator = forFastText ? ' ' : ',';
      write(`${forFastText ? '__label__' : ''}c${label}${separator}${words.join(' ')}\n`);
    }
  });
}

function cached(name, fill) {
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const draft = `${path}.${process.pid}.part`;
  const file = openSync(draft, 'w');
  let pending = '';
  fill((line) => {
    pending += line;
    if (pending.length < 1 << 20) return;
    writeSync(file, pending);
    pending = '';
  });
  writeSync(file, pending);
  closeSync(file);
  renameSync(draft, path);
  return path;
}
