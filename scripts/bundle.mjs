// Bundles src to dist: the entries named below, each with the chunks it shares with others. Loading
// a thousand small files took most of the time that a start took.

import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listFiles, projectRoot } from './lib.mjs';

/**
 * Packages that every start needs, and those whose install scripts would compile something; the
 * others are loaded from where they are installed.
 */
const BUNDLED = new Set([
  ...['ssh2', 'asn1', 'bcrypt-pbkdf', 'safer-buffer', 'tweetnacl'],
  ...['typebox', 'commander', 'negotiator', 'content-type'],
  ...['htmlparser2', 'entities', 'domhandler', 'domelementtype', 'domutils', 'dom-serializer'],
]);

/** What runs inside the sandbox: one text without imports. */
const GUEST = 'src/plugin/scope.ts';

/** A process that runs while this one builds finds the chunks that it was started from. */
const CHUNK_AGE_MS_MAX = 900_000;

/** @param options.tolerateTypeErrors imports of names that do not exist are undefined */
export async function bundle({ tolerateTypeErrors = false } = {}) {
  const { rolldown } = await import('rolldown');
  const shared = {
    cwd: projectRoot,
    platform: 'node',
    external: isInstalled,
    // Packages of Node's older kind ask where they lie.
    transform: { define: { __dirname: 'import.meta.dirname' } },
    shimMissingExports: tolerateTypeErrors,
    preserveEntrySignatures: 'allow-extension',
    logLevel: 'warn',
  };
  const output = {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunk/[name]-[hash].js',
    comments: false,
    // Text of one byte a character is read and kept at half the cost.
    charset: 'ascii',
    sourcemap: true,
    sourcemapExcludeSources: true,
  };
  const entries = programEntries();
  const program = await rolldown({ ...shared, input: Object.fromEntries(entries) });
  const guest = await rolldown({ ...shared, input: { [stemOf(GUEST)]: GUEST } });
  const written = [
    ...(await program.write({ ...output, codeSplitting: sharedChunks(entries) })).output,
    ...(await guest.write(output)).output,
  ];
  writeFileSync(join(projectRoot, 'dist/third-party-licences.txt'), licencesOf(written));
  removeOthers(new Set(written.map(({ fileName }) => join('dist', fileName))));
}

/** Names below dist and their sources: commands, exports and the entries of worker threads. */
function programEntries() {
  const { bin, exports } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const shipped = [...Object.values(bin), ...Object.values(exports).map((entry) => entry.default)]
    .filter((path) => path?.endsWith('.js'))
    .map((path) => path.replace(/^(\.\/)?dist\//, '').replace(/\.js$/, '.ts'));
  const threads = listFiles('src', (path) => path.endsWith('.ts')).flatMap((path) =>
    [...readFileSync(join(projectRoot, path), 'utf8').matchAll(/\bworkerFile\('([^']+)'\)/g)].map(
      (match) => match[1],
    ),
  );
  const sources = new Set([...shipped, ...threads].map((path) => `src/${path}`));
  return [...sources].map((source) => [stemOf(source), source]);
}

/**
 * What the same entries need at their start is one chunk; what is imported later stays apart. Left
 * to itself the bundler also cuts by later imports, into many small files.
 */
function sharedChunks(entries) {
  const starts = [...entries.map(([, source]) => source), 'src/cli/program.ts'];
  let chunks;
  const name = (id, graph) => {
    chunks ??= chunksOf(starts, graph);
    return chunks.get(id) ?? null;
  };
  return { includeDependenciesRecursively: false, groups: [{ name, debugName: 'starts' }] };
}

/** The chunk of each module that a start needs. */
function chunksOf(starts, graph) {
  const users = new Map();
  for (const [index, start] of starts.entries()) {
    const pending = [join(projectRoot, start)];
    const seen = new Set(pending);
    for (const id of pending) {
      users.set(id, [...(users.get(id) ?? []), index]);
      for (const next of graph.getModuleInfo(id)?.importedIds ?? []) {
        if (seen.has(next)) continue;
        seen.add(next);
        pending.push(next);
      }
    }
  }
  const names = new Map();
  const nameOf = (indices) => {
    const key = indices.join();
    if (!names.has(key)) names.set(key, `shared-${names.size + 1}`);
    return names.get(key);
  };
  const isStart = new Set(starts.map((start) => join(projectRoot, start)));
  return new Map(
    [...users].filter(([id]) => !isStart.has(id)).map(([id, indices]) => [id, nameOf(indices)]),
  );
}

function stemOf(source) {
  return source.replace(/^src\//, '').replace(/\.ts$/, '');
}

function isInstalled(specifier) {
  if (specifier.endsWith('.node')) return true;
  if (/^[./]/.test(specifier) || specifier.startsWith('node:')) return false;
  return !BUNDLED.has(/^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]);
}

/** Licences of the packages of which something is in the bundle, as they ask for. */
export function licencesOf(files) {
  const folders = files
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    .map((id) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)(?=\/)/.exec(id.replaceAll('\\', '/')))
    .filter((match) => match !== null);
  const byName = new Map(folders.map(([folder, name]) => [name, folder]));
  return [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, folder]) => {
      const about = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const { version, license = about.licenses?.[0]?.type } = about;
      const file = ['LICENSE', 'license', 'LICENSE.md', 'LICENSE.txt']
        .map((candidate) => join(folder, candidate))
        .find((candidate) => existsSync(candidate));
      const text = file === undefined ? '' : readFileSync(file, 'utf8').trim();
      return `${name} ${version} (${license})\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

/** Removes what earlier builds wrote; the console is built apart. */
function removeOthers(written) {
  const isCode = (path) => /\.js(\.map)?$/.test(path);
  const consoleFolder = join('dist', 'console');
  for (const path of listFiles('dist', isCode)) {
    if (written.has(path) || path.startsWith(consoleFolder)) continue;
    const file = join(projectRoot, path);
    const isChunk = path.startsWith(join('dist', 'chunk'));
    if (isChunk && Date.now() - statSync(file).mtimeMs < CHUNK_AGE_MS_MAX) continue;
    rmSync(file, { force: true });
  }
}
