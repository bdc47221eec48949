// Keeps the architecture as drawn: a folder of src/ imports only from those above it, files import
// one another without cycles, and the console knows nothing of src/.

import { posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { projectFiles, readProjectFile } from '../support/project.ts';

/** Top to bottom: each folder may import from itself and from those before it. */
const LAYERS = [
  'util',
  'kernel',
  'value',
  'schema',
  'client',
  'file',
  'format',
  'store',
  'learn',
  'sql',
  'plan',
  'builtin',
  'physical',
  'exec',
  'remote',
  'dataset',
  'function',
  'procedure',
  'service',
  'plugin',
  'rest',
  'replica',
  'cli',
];

const sources = projectFiles(/^src\/.*\.ts$/).filter((path) => !isAssembly(path));

describe('src', () => {
  test('holds only the folders of the architecture', () => {
    const folders = new Set(sources.map(layerOf).filter((layer) => layer !== ''));
    expect([...folders].filter((folder) => !LAYERS.includes(folder))).toEqual([]);
  });

  test('every relative import names a file that exists, with its extension', () => {
    // Written by the build, and not under version control.
    const generated = 'src/kernel/generated.ts';
    const known = new Set([...projectFiles(/^(src|package\.json)/), generated]);
    expect(allImports().filter(({ to }) => !known.has(to))).toEqual([]);
  });

  test('a folder imports only from those above it', () => {
    const wrong = allImports().filter(({ from, to }) => rank(to) > rank(from));
    expect(wrong).toEqual([]);
  });

  test('no file imports itself by way of others', () => {
    expect(findCycles(new Map(sources.map((path) => [path, importsOf(path)])))).toEqual([]);
  });
});

describe('the client', () => {
  test('loads nothing of the engine, and nothing that browsers lack', () => {
    const allowed = /^src\/(client|util)\/|^src\/value\/(path|natural-order)\.ts$/;
    const reached = [...reachableFrom('src/client/index.ts')];
    expect(reached).toContain('src/client/rowan-api.ts');
    expect(reached.filter((path) => !allowed.test(path))).toEqual([]);
    const loaded = reached.filter((path) =>
      /^(import|export) (?!type )[^;]*from '[^.']/m.test(readProjectFile(path)),
    );
    expect(loaded).toEqual([]);
  });
});

describe('console', () => {
  test('imports nothing from src', () => {
    const files = projectFiles(/^console\/.*\.(ts|tsx|js|jsx)$/);
    const wrong = files.flatMap((from) =>
      importsOf(from)
        .filter((to) => to.startsWith('src/'))
        .map((to) => ({ from, to })),
    );
    expect(wrong).toEqual([]);
  });
});

describe('the checks themselves', () => {
  test('see every form of import', () => {
    const text = [
      "import { a } from './a.ts';",
      "import type {\n  B,\n  C,\n} from '../b.ts';",
      "import './c.ts';",
      "export * from './d.ts';",
      "export { e } from './e.ts';",
      "const f = await import('./f.ts');",
      "type G = typeof import('./g.ts');",
      "import { readFile } from 'node:fs';",
      '// import { no } from "./comment.ts";',
    ].join('\n');
    expect(importedPaths(text)).toEqual([
      ...['./a.ts', '../b.ts', './c.ts', './d.ts', './e.ts', './f.ts', './g.ts'],
    ]);
  });

  test('find a cycle', () => {
    const graph = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(findCycles(graph)).toEqual(['b > c > b']);
  });
});

interface Import {
  readonly from: string;
  readonly to: string;
}

function allImports(): Import[] {
  return sources.flatMap((from) => importsOf(from).map((to) => ({ from, to })));
}

function importsOf(path: string): string[] {
  return importedPaths(readProjectFile(path)).map((specifier) =>
    posix.join(posix.dirname(path), specifier),
  );
}

function reachableFrom(path: string, reached: Set<string> = new Set()): Set<string> {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const next of importsOf(path)) reachableFrom(next, reached);
  return reached;
}

/** The relative module paths a text imports, whether values or only types. */
function importedPaths(text: string): string[] {
  const pattern =
    /(?:^|[;\n])\s*(?:import|export)\s(?:[\w*{},$\s]*?\sfrom\s*)?\s*['"](\.[^'"]*)['"]|\bimport\(\s*['"](\.[^'"]*)['"]/g;
  return [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? '');
}

/** The first folder below src/, empty for files in src/ itself, which may import everything. */
function layerOf(path: string): string {
  return path.startsWith('src/') && path.includes('/', 4)
    ? path.slice(4, path.indexOf('/', 4))
    : '';
}

function rank(path: string): number {
  if (path === 'package.json') return -1;
  // The public API stands between the transport that it starts and the commands that use it.
  if (path === 'src/index.ts') return LAYERS.indexOf('rest');
  const index = LAYERS.indexOf(layerOf(path));
  return index < 0 ? LAYERS.length : index;
}

function isAssembly(path: string): boolean {
  return path.startsWith('src/kernel/assembly/');
}

/** Each cycle that a depth-first walk meets, as text. */
function findCycles(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string) => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      cycles.push([...trail.slice(start), path].join(' > '));
      return;
    }
    if (done.has(path)) return;
    trail.push(path);
    for (const next of graph.get(path) ?? []) visit(next);
    trail.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return cycles;
}
