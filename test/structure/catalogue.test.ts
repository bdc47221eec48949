// The catalogue of errors is complete, and its page is what it derives from the catalogue.
import { describe, expect, expectTypeOf, test } from 'vitest';
import { errorReference } from '../../src/rest/doc/error-reference.ts';
import { learnerReference } from '../../src/rest/doc/learner-reference.ts';
import { optionReference } from '../../src/rest/doc/option-reference.ts';
import { trainerReference } from '../../src/rest/doc/trainer-reference.ts';
import { ERRORS, type ErrorEntry } from '../../src/util/error-catalogue.ts';
import { errorText, exampleOf, type TextOf } from '../../src/util/error-text.ts';
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

  const entries = Object.entries(ERRORS as Readonly<Record<string, ErrorEntry>>);
  const formed = entries.flatMap(([code, entry]) => ('parts' in entry ? [{ code, entry }] : []));

  test.each(formed)('the example of $code has all parts that its form needs', ({ entry }) => {
    const named = partsOf(entry.template);
    const needed = partsOf(entry.template.replaceAll(/\[[^\]]*\]/g, ''));
    expect(Object.keys(entry.parts).filter((name) => !named.includes(name))).toEqual([]);
    expect(needed.filter((name) => !Object.hasOwn(entry.parts, name))).toEqual([]);
    expect(exampleOf(entry)).not.toMatch(/[<>[\]]|undefined/);
  });

  test.each(formed)('each form of $code is used', ({ entry }) => {
    const forms = Object.keys(entry.forms ?? {});
    expect(forms.filter((form) => !sources.includes(`form: '${form}'`))).toEqual([]);
  });

  test('no text of a code that has forms is written at its call', () => {
    const codes = formed.map(({ code }) => code).join('|');
    const written = new RegExp(
      `(?:failure|new RowanError)\\(\\s*'(?:${codes})',\\s*(?:\\d+,\\s*)?['"\`]`,
      'g',
    );
    expect(sources.match(written)).toBeNull();
    expect(`failure('RUN_NOT_FOUND', 'gone')`).toMatch(written);
  });

  test('is the page of errors; after a change, take it over with -u', async () => {
    await expect(errorReference()).toMatchFileSnapshot('../../docs/reference/errors.md');
  });
});

test('messages are made from their parts, each of which is taken as it is', () => {
  const url = 's3://b/<reason>[<path>: ]';
  expect(errorText('FILE_NOT_FOUND', { url, reason: '$& gone' })).toBe(
    `cannot access ${url}: $& gone`,
  );
  expect(errorText('FILE_NOT_FOUND', { url: 'u', path: '/p', reason: 'r' })).toBe(
    'cannot access u: /p: r',
  );
  expect(errorText('RUN_NOT_FOUND', { form: 'none' })).toBe('not found');
  expectTypeOf<{ kind: string }>().not.toExtend<TextOf<'ENTITY_EXISTS'>>();
  expectTypeOf<string>().not.toExtend<TextOf<'SHUTTING_DOWN'>>();
});

test('the page of learners is what their declarations say; take it over with -u', async () => {
  await expect(learnerReference()).toMatchFileSnapshot('../../docs/reference/learners.md');
});

test('the page of trainers is what their declarations say; take it over with -u', async () => {
  await expect(trainerReference()).toMatchFileSnapshot('../../docs/reference/trainers.md');
});

test('the page of server options is what their declarations say; take it over with -u', async () => {
  await expect(optionReference()).toMatchFileSnapshot('../../docs/reference/options.md');
});

function partsOf(template: string): string[] {
  return [...template.matchAll(/<([^>]+)>/g)].map((match) => match[1] as string);
}
