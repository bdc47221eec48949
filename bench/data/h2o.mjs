// The tables of the H2O.ai database benchmark, as its groupby-datagen and join-datagen make them: K = 100
// groups, no nulls, rows in random order.

import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomUniforms } from './random.mjs';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Part of the file names: a change of the rows below must change it. */
const VERSION = 1;
const GROUP_COUNT = 100;

/** The table of the group-by questions: id1 … id6, v1 … v3. @returns the path of the file */
export function groupCsv(rowCount) {
  const below = source(11);
  const many = Math.max(1, Math.round(rowCount / GROUP_COUNT));
  const of = (count) => 1 + below(count);
  const name = (number, digits) => `id${String(number).padStart(digits, '0')}`;
  return writeOnce(
    `h2o-g-v${VERSION}-${rowCount}.csv`,
    'id1,id2,id3,id4,id5,id6,v1,v2,v3',
    rowCount,
    () =>
      [
        ...[name(of(GROUP_COUNT), 3), name(of(GROUP_COUNT), 3), name(of(many), 10)],
        ...[of(GROUP_COUNT), of(GROUP_COUNT), of(many), of(5), of(15), below(1e8) / 1e6],
      ].join(','),
  );
}

/**
 * The tables of the join questions: x with `rowCount` rows, and small, medium and big ones with a
 * millionth, a thousandth and all of them. Nine in ten of the keys of each side are on both.
 * @returns the paths of the files by the names of the tables
 */
export function joinCsvs(rowCount) {
  const sizes = [rowCount / 1e6, rowCount / 1e3, rowCount].map((size) =>
    Math.max(10, Math.round(size)),
  );
  const below = source(12);
  const keys = sizes.map((size) => splitKeys(size, below));
  const value = () => below(1e8) / 1e6;
  const texts = (ids) => ids.map((id) => `id${id}`);
  const file = (name) => `h2o-${name}-v${VERSION}-${rowCount}.csv`;
  const pick = (list) => list[below(list.length)];
  const x = writeOnce(file('x'), 'id1,id2,id3,id4,id5,id6,v1', rowCount, () => {
    const ids = keys.map(({ left }) => pick(left));
    return [...ids, ...texts(ids), value()].join(',');
  });
  const right = (name, depth) => {
    const columns = [1, 2, 3].slice(0, depth);
    const header = [...columns.map((i) => `id${i}`), ...columns.map((i) => `id${i + 3}`), 'v2'];
    return writeOnce(file(name), header.join(','), sizes[depth - 1], (row) => {
      const ids = keys
        .slice(0, depth)
        .map(({ right: own }, i) => (i === depth - 1 ? own[row] : pick(own)));
      return [...ids, ...texts(ids), value()].join(',');
    });
  };
  return { x, small: right('small', 1), medium: right('medium', 2), big: right('big', 3) };
}

/** Keys from 1 to 1.1 times their number: most are on both sides, some on one of them. */
function splitKeys(size, below) {
  const common = Math.max(1, Math.round(size * 0.9));
  const keys = shuffled(size + (size - common), below);
  const shared = keys.slice(0, common);
  return {
    left: [...shared, ...keys.slice(common, size)],
    right: [...shared, ...keys.slice(size)],
  };
}

function shuffled(count, below) {
  const list = Array.from({ length: count }, (_, i) => i + 1);
  for (let i = count - 1; i > 0; i--) {
    const other = below(i + 1);
    [list[i], list[other]] = [list[other], list[i]];
  }
  return list;
}

function writeOnce(name, header, rowCount, lineOf) {
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.part`;
  const file = openSync(draft, 'w');
  let text = `${header}\n`;
  for (let row = 0; row < rowCount; row++) {
    text += `${lineOf(row)}\n`;
    if (text.length < 1e6) continue;
    writeSync(file, text);
    text = '';
  }
  writeSync(file, text);
  closeSync(file);
  renameSync(draft, path);
  return path;
}

function source(seed) {
  const uniform = randomUniforms(seed);
  return (count) => Math.floor(uniform() * count);
}
