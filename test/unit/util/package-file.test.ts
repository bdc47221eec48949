import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { packageFile, packageVersion } from '../../../src/util/package-file.ts';
import { compiledModule, projectRoot } from '../../support/project.ts';

test('files of the package are found from any depth', async () => {
  const module = compiledModule('util/package-file.ts').href;
  const twin: typeof import('../../../src/util/package-file.ts') = await import(module);
  expect(fileURLToPath(packageFile('./'))).toBe(projectRoot);
  expect(twin.packageFile('docs').href).toBe(packageFile('docs').href);
});

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  expect(packageVersion()).toBe(version);
});
