// Every kernel has a plain twin: a test calls it and compares it with the same in TypeScript.

import { expect, test } from 'vitest';
import { projectFiles, readProjectFile } from '../support/project.ts';

/**
 * Kernels that are held to other models only, by the tests of their learner or format (test/unit).
 * One that gets a twin is taken off; nothing is added.
 */
const WITHOUT_TWIN: readonly string[] = [
  'csvCells',
  'csvCodes',
  'csvDoubles',
  'csvFields',
  'csvIntegers',
  'csvNote',
  'csvRehash',
  'csvWiden',
  'csvZeros',
  'edgeAttraction',
  'forestStep',
  'forestTree',
  'jsonNumberRows',
  'markChanges',
  'plainRepulsion',
  'runBlocks',
  'textTrain',
  'umapEpoch',
];

test('every exported kernel has a plain twin in test/unit', () => {
  const kernels = [...readProjectFile('src/kernel/generated.ts').matchAll(/^ {2}(\w+)\(/gm)].map(
    (match) => match[1] as string,
  );
  expect(kernels).toContain('andTruth');
  const tests = projectFiles(/^test\/unit\/.*\.test\.ts$/).map(readProjectFile);
  const called = new Set(
    tests.flatMap((text) => [...text.matchAll(/\bkernels\.(\w+)\(/g)].map((match) => match[1])),
  );
  expect(kernels.filter((kernel) => !called.has(kernel)).sort()).toEqual(WITHOUT_TWIN);
});
