// Rules of style that a program can check. Formatting and most lint rules are Biome's.

import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missingPackages } from '../../scripts/complete-lock.mjs';
import { projectFiles, projectRoot, readProjectFile } from '../support/project.ts';

const LINE_COUNT_MAX = 600;

const code = projectFiles(
  /^(src|test|bench|scripts|console|examples)\/.*\.(ts|tsx|mjs|js)$/,
).filter((path) => path !== 'test/structure/style.test.ts');
const documents = projectFiles(/\.md$/);
const texts = projectFiles(/\.(ts|tsx|mjs|js|json|md|html|css|slt|yml|sh)$|^\.ci\/run$/).filter(
  (path) => path !== 'package-lock.json' && path !== 'test/structure/style.test.ts',
);

describe('code', () => {
  test(`no file is longer than ${LINE_COUNT_MAX} lines`, () => {
    const long = code
      .map((path) => ({ path, lineCount: readProjectFile(path).split('\n').length - 1 }))
      .filter(({ lineCount }) => lineCount > LINE_COUNT_MAX);
    expect(long).toEqual([]);
  });

  test('file names are kebab-case', () => {
    const names = projectFiles(/^(src|test|bench|scripts)\//)
      .map((path) => posix.basename(path))
      .filter((name) => !/^(README\.md|[a-z0-9-]+(\.[a-z0-9-]+)*)$/.test(name));
    expect(names).toEqual([]);
  });

  // What a package without types exports is not ours to name.
  test('exports have names', () => {
    const isOurs = (path: string) => !path.endsWith('.d.ts');
    const found = linesWith(/^\s*export\s+(default\b|\{[^}]*\bas default\b)/, isOurs);
    expect(found).toEqual([]);
  });

  test('nothing is left for later', () => {
    expect(linesWith(/\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  // Biome refuses the type any; these comments would hide what it and the compiler say.
  test('types are not evaded', () => {
    expect(linesWith(/@ts-(ignore|expect-error|nocheck)/)).toEqual([]);
  });

  test('no test is skipped or singled out', () => {
    expect(linesWith(/\b(describe|test|it)\.(skip|only|todo|fails)\b/)).toEqual([]);
  });

  test('text becomes code in one file of src/exec only', () => {
    const places = linesWith(/\bnew Function\(|\beval\(/, (path) => path.startsWith('src/'));
    const files = [...new Set(places.map((place) => place.slice(0, place.indexOf(':'))))];
    expect(files.filter((path) => !/^src\/exec\/(.*\/)?compile\.ts$/.test(path))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(1);
  });
});

describe('documents', () => {
  test('each has exactly one title, at its top', () => {
    const wrong = documents.filter((path) => {
      const prose = withoutFences(readProjectFile(path));
      return !/^# \S/.test(prose) || prose.match(/^# /gm)?.length !== 1;
    });
    expect(wrong).toEqual([]);
  });

  test('relative links lead to files', () => {
    const dead = documents.flatMap((path) =>
      [...withoutFences(readProjectFile(path)).matchAll(/\]\(([^)\s]+)\)/g)]
        .map((match) => decodeURI((match[1] ?? '').replace(/#.*$/, '')))
        .filter((link) => link !== '' && !/^([a-z]+:|\/)/.test(link))
        .filter((link) => !existsSync(join(projectRoot, posix.dirname(path), link)))
        .map((link) => `${path}: ${link}`),
    );
    expect(dead).toEqual([]);
  });
});

describe('the project', () => {
  test('names no place of one machine and no registry', () => {
    const pattern = /\/work\/(main|shared)|\/tmp\/rowan\b|\/home\/[a-z]|registry\.npmjs/;
    expect(linesWith(pattern, () => true, texts)).toEqual([]);
  });

  test('the lock file has every optional package', () => {
    const missing = missingPackages(JSON.parse(readProjectFile('package-lock.json')));
    const names = missing.map(({ name }) => name);
    expect(names, 'run node scripts/complete-lock.mjs').toEqual([]);
  });

  test('the lock file names no registry', () => {
    expect(readProjectFile('package-lock.json')).not.toContain('"resolved"');
  });
});

/** The lines a pattern matches, as `path:line: text`. */
function linesWith(
  pattern: RegExp,
  accept: (path: string) => boolean = () => true,
  paths: readonly string[] = code,
): string[] {
  return paths.filter(accept).flatMap((path) =>
    readProjectFile(path)
      .split('\n')
      .map((line, index) => ({ line, place: `${path}:${index + 1}: ${line.trim()}` }))
      .filter(({ line }) => pattern.test(line))
      .map(({ place }) => place),
  );
}

function withoutFences(markdown: string): string {
  return markdown.replace(/^(```+|~~~+)[\s\S]*?^\1/gm, '');
}
