// Compiles src/kernel/assembly to build/kernel/kernel.wasm, the one module of vector kernels, and
// writes what TypeScript needs to know of them to src/kernel/generated.ts.

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint, isFresh, listFiles, projectRoot, withLock, writeStamp } from './lib.mjs';

const OUTPUT = 'build/kernel/kernel.wasm';
/** Signatures, offsets and codes; see kernel-interface.mjs. */
const INTERFACE = 'src/kernel/generated.ts';
const STAMP = 'build/kernel/kernel.stamp';

// Static data of the kernels lives in the first page of every arena; address 0 stays unused.
const STATIC_DATA_BASE = 1024;
const STATIC_DATA_END = 65_536;

const FLAGS = [
  '-O3',
  '--noAssert',
  ...['--runtime', 'stub'],
  ...['--enable', 'simd', '--enable', 'threads', '--enable', 'bulk-memory'],
  ...['--importMemory', '--sharedMemory', '--noExportMemory'],
  ...['--initialMemory', '1', '--maximumMemory', '65536'],
  ...['--memoryBase', String(STATIC_DATA_BASE)],
];

export async function buildKernel() {
  const sources = () => [
    'scripts/build-kernel.mjs',
    'scripts/kernel-interface.mjs',
    'package-lock.json',
    ...listFiles('src/kernel/assembly', (path) => path.endsWith('.ts')),
  ];
  const isUpToDate = (paths) => isFresh(STAMP, paths) && existsSync(join(projectRoot, INTERFACE));
  if (isUpToDate(sources())) return 0;
  return withLock('kernel', async () => {
    const paths = sources();
    if (isUpToDate(paths)) return 0;
    const stamp = fingerprint(paths);
    mkdirSync(join(projectRoot, 'build/kernel'), { recursive: true });
    const draft = `build/kernel/kernel.${process.pid}.wasm`;
    const text = await compile(draft);
    if (text === undefined) return 1;
    const problem = findProblem(readFileSync(join(projectRoot, draft)));
    if (problem !== undefined) {
      rmSync(join(projectRoot, draft));
      console.error(`kernel module: ${problem}`);
      return 1;
    }
    renameSync(join(projectRoot, draft), join(projectRoot, OUTPUT));
    writeWhenNew(INTERFACE, text);
    writeStamp(STAMP, stamp);
    return 0;
  });
}

/** Compiles to a file. @returns the text for TypeScript, or undefined when there are errors */
async function compile(outFile) {
  const { main } = await import('assemblyscript/asc');
  const { kernelInterface } = await import('./kernel-interface.mjs');
  let text;
  const write = (written) => {
    text = written;
  };
  const { error } = await main(
    ['src/kernel/assembly/index.ts', '--baseDir', projectRoot, '--outFile', outFile, ...FLAGS],
    { stderr: process.stderr, transforms: [kernelInterface(write)] },
  );
  return error === null ? text : undefined;
}

/** Leaves a file of the same content as it is, so that what is made of it stays fresh. */
function writeWhenNew(path, text) {
  const file = join(projectRoot, path);
  if (existsSync(file) && readFileSync(file, 'utf8') === text) return;
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}

/**
 * Many instances share one memory, so the module may not run code when it is instantiated, grow
 * the memory by itself, import anything beside it, or put data outside of the reserved page.
 */
function findProblem(bytes) {
  const module = new WebAssembly.Module(bytes);
  const imports = WebAssembly.Module.imports(module).map((item) => `${item.module}.${item.name}`);
  if (imports.join() !== 'env.memory') return `imports ${imports.join(', ')}, expected env.memory`;
  for (const section of sectionsOf(bytes)) {
    if (section.id === SECTION_START)
      return 'has a start function (code at the top level of a file)';
    if (section.id === SECTION_DATA) {
      const end = dataEnd(bytes, section.offset);
      if (end > STATIC_DATA_END) return `static data ends at ${end}, limit ${STATIC_DATA_END}`;
    }
  }
  return undefined;
}

const SECTION_START = 8;
const SECTION_DATA = 11;
const OPCODE_I32_CONST = 0x41;

function* sectionsOf(bytes) {
  let offset = 8; // after the magic number and the version
  while (offset < bytes.length) {
    const id = bytes[offset];
    const size = readInteger(bytes, offset + 1);
    yield { id, offset: size.next };
    offset = size.next + size.value;
  }
}

/** The first byte after the last active data segment. Passive segments write nothing by themselves. */
function dataEnd(bytes, offset) {
  const count = readInteger(bytes, offset);
  let position = count.next;
  let end = 0;
  for (let i = 0; i < count.value; i++) {
    const mode = bytes[position++];
    let base = 0;
    if (mode === 0) {
      if (bytes[position] !== OPCODE_I32_CONST) return Number.POSITIVE_INFINITY;
      const address = readInteger(bytes, position + 1);
      base = address.value;
      position = address.next + 1; // after the end opcode
    }
    const length = readInteger(bytes, position);
    position = length.next + length.value;
    if (mode === 0) end = Math.max(end, base + length.value);
  }
  return end;
}

/** LEB128. The sign of a signed one does not matter here: addresses are small and positive. */
function readInteger(bytes, offset) {
  let value = 0;
  let shift = 0;
  let next = offset;
  let byte;
  do {
    byte = bytes[next++];
    value += (byte & 0x7f) * 2 ** shift;
    shift += 7;
  } while (byte & 0x80);
  return { value, next };
}

if (process.argv[1] === import.meta.filename) process.exitCode = await buildKernel();
