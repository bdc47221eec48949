// In the folders named here every exported function and class says what it is for.

import { expect, test } from 'vitest';
import { projectFiles, readProjectFile } from '../support/project.ts';

/** A folder joins when it is complete. */
const COMPLETE = [
  ...['util', 'kernel', 'value', 'schema', 'client', 'file', 'format', 'store', 'sql'],
  ...['dataset', 'function', 'procedure', 'replica', 'cli'],
];

const EXPORT = /^export (?:abstract )?(?:async )?(?:function\*?|class) (\w+)/;

test.each(COMPLETE)('exports of src/%s have docstrings', (folder) => {
  const files = projectFiles(new RegExp(`^src/${folder}/.*(?<!\\.d)\\.ts$`));
  expect(files.length).toBeGreaterThan(2);
  expect(files.flatMap(undocumented)).toEqual([]);
});

/** Names of a file whose export has no comment above it; of overloads one is enough. */
function undocumented(path: string): string[] {
  const lines = readProjectFile(path).split('\n');
  const documented = new Set<string>();
  const names = lines.flatMap((line, index) => {
    const name = EXPORT.exec(line)?.[1];
    if (name === undefined) return [];
    const above = lines.slice(0, index).findLast((other) => !other.startsWith('@'));
    if (above?.trimEnd().endsWith('*/')) documented.add(name);
    return [name];
  });
  return names.filter((name) => !documented.has(name)).map((name) => `${path}: ${name}`);
}
