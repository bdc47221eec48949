// The catalogue of errors is complete, and its page is what it derives from the catalogue.
import { describe, expect, test } from 'vitest';
import { errorReference } from '../../src/rest/doc/error-reference.ts';
import { learnerReference } from '../../src/rest/doc/learner-reference.ts';
import { optionReference } from '../../src/rest/doc/option-reference.ts';
import { ERRORS } from '../../src/util/error-catalogue.ts';
import { projectFiles, readProjectFile } from '../support/project.ts';

const CATALOGUE = 'src/util/error-catalogue.ts';

const sources = projectFiles(/^src\/.*\.ts$/)
  .filter((path) => path !== CATALOGUE)
  .map(readProjectFile)
  .join('\n');

describe('the catalogue of errors', () => {
  test.each(Object.keys(ERRORS))('%s is used', (code) => {
    expect(sources).toContain(`'${code}'`);
  });

  test('has every code that is made', () => {
    const made = [...sources.matchAll(/(?:failure|new RowanError)\(\s*'([A-Z_]+)'/g)];
    expect(made.length).toBeGreaterThan(200);
    expect(made.map((match) => match[1]).filter((code) => !((code as string) in ERRORS))).toEqual(
      [],
    );
  });

  test('is the page of errors; after a change, take it over with -u', async () => {
    await expect(errorReference()).toMatchFileSnapshot('../../docs/reference/errors.md');
  });
});

test('the page of learners is what their declarations say; take it over with -u', async () => {
  await expect(learnerReference()).toMatchFileSnapshot('../../docs/reference/learners.md');
});

test('the page of server options is what their declarations say; take it over with -u', async () => {
  await expect(optionReference()).toMatchFileSnapshot('../../docs/reference/options.md');
});
