// Bundles console/ to dist/console: a page, a style sheet and modules, each named by a hash of its
// content. Fails when the page has grown over its budget.

import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { licencesOf } from './bundle.mjs';
import { fingerprint, isFresh, listFiles, projectRoot, withLock, writeStamp } from './lib.mjs';

const FOLDER = 'dist/console';
const STAMP = 'build/console.stamp';

/** Bytes after gzip: of what the first page loads, and of everything. */
const FIRST_LOAD_BYTES_MAX = 70_000;
const ALL_BYTES_MAX = 450_000;

const ENTRIES = { main: 'console/main.tsx', result: 'console/worker/result.ts' };

export async function buildConsole() {
  const inputs = () => [
    ...['scripts/build-console.mjs', 'package-lock.json'],
    ...listFiles('console'),
    ...['src/client', 'src/util', 'src/value'].flatMap((folder) => listFiles(folder)),
  ];
  if (isUpToDate(inputs())) return 0;
  return withLock('console', async () => {
    const paths = inputs();
    if (isUpToDate(paths)) return 0;
    const stamp = fingerprint(paths);
    const output = await bundle();
    copySample();
    const style = writeStyle();
    writePage(output, style.fileName);
    const problem = overBudget(output, style);
    if (problem !== undefined) {
      console.error(problem);
      return 1;
    }
    writeStamp(STAMP, stamp);
    return 0;
  });
}

/** What was built may have been removed since. */
function isUpToDate(paths) {
  const isThere = listFiles(FOLDER, (path) => path.endsWith('.js')).length > 0;
  return isThere && isFresh(STAMP, paths);
}

async function bundle() {
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    cwd: projectRoot,
    input: ENTRIES,
    platform: 'browser',
    resolve: {
      alias: { 'rowan-db/client': join(projectRoot, 'src/client/index.ts') },
      conditionNames: ['browser', 'import', 'default'],
    },
    logLevel: 'warn',
  });
  rmSync(join(projectRoot, FOLDER), { recursive: true, force: true });
  const { output } = await bundle.write({
    dir: FOLDER,
    format: 'esm',
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
    minify: true,
    comments: false,
  });
  writeFileSync(join(projectRoot, FOLDER, 'third-party-licences.txt'), licencesOf(output));
  return output.filter(({ type }) => type === 'chunk');
}

/** Data to begin with: wildlife strikes of the FAA, public domain. */
function copySample() {
  const source = join(projectRoot, 'node_modules/vega-datasets/data/birdstrikes.csv');
  copyFileSync(source, join(projectRoot, FOLDER, 'birdstrikes.csv'));
}

/** @returns its name in the folder and its bytes */
function writeStyle() {
  const source = listFiles('console', (path) => path.endsWith('.css'))
    .map((path) => readFileSync(join(projectRoot, path), 'utf8'))
    .join('\n');
  const text = source
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s*\n\s*/g, '\n')
    .trim();
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 8);
  const fileName = `style-${hash}.css`;
  mkdirSync(join(projectRoot, FOLDER), { recursive: true });
  writeFileSync(join(projectRoot, FOLDER, fileName), text);
  return { fileName, code: text };
}

/** The page names what it loads, so that nothing waits for the first module to ask for the next. */
function writePage(chunks, styleName) {
  const entry = (name) => chunks.find((chunk) => chunk.isEntry && chunk.name === name);
  const main = entry('main');
  const preloads = firstLoad(chunks)
    .filter((chunk) => chunk !== main)
    .map(({ fileName }) => `<link rel="modulepreload" href="console/${fileName}">`);
  const values = {
    style: `console/${styleName}`,
    main: `console/${main.fileName}`,
    worker: `console/${entry('result').fileName}`,
    preloads: preloads.join('\n'),
  };
  const page = readFileSync(join(projectRoot, 'console/index.html'), 'utf8').replace(
    /\{\{(\w+)\}\}/g,
    (mark, name) => values[name] ?? mark,
  );
  writeFileSync(join(projectRoot, FOLDER, 'index.html'), page);
}

/** The main module and what it imports at its start. */
function firstLoad(chunks) {
  const byName = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const found = new Set([chunks.find((chunk) => chunk.isEntry && chunk.name === 'main')]);
  for (const chunk of found) for (const name of chunk.imports) found.add(byName.get(name));
  return [...found];
}

function overBudget(chunks, style) {
  const sizeOf = (pieces) =>
    [...pieces, style].reduce((sum, { code }) => sum + gzipSync(code).length, 0);
  const first = sizeOf(firstLoad(chunks));
  const all = sizeOf(chunks);
  console.log(`console: ${kilobytes(first)} kB at first, ${kilobytes(all)} kB in all (gzip)`);
  if (first > FIRST_LOAD_BYTES_MAX)
    return `the first load of the console may be ${kilobytes(FIRST_LOAD_BYTES_MAX)} kB`;
  if (all > ALL_BYTES_MAX) return `the console may be ${kilobytes(ALL_BYTES_MAX)} kB in all`;
  return undefined;
}

function kilobytes(bytes) {
  return (bytes / 1000).toFixed(1);
}

if (process.argv[1] === import.meta.filename) process.exitCode = await buildConsole();
