// Every kernel has a plain twin: a test calls it and compares it with the same in TypeScript.

import { expect, test } from 'vitest';
import { projectFiles, readProjectFile } from '../support/project.ts';

test('every exported kernel has a plain twin in test/unit', () => {
  const kernels = [...readProjectFile('src/kernel/generated.ts').matchAll(/^ {2}(\w+)\(/gm)].map(
    (match) => match[1] as string,
  );
  expect(kernels).toContain('andTruth');
  const tests = projectFiles(/^test\/unit\/.*\.test\.ts$/).map(readProjectFile);
  const called = new Set(
    tests.flatMap((text) => [...text.matchAll(/\bkernels\.(\w+)\(/g)].map((match) => match[1])),
  );
  expect(kernels.filter((kernel) => !called.has(kernel))).toEqual([]);
});
