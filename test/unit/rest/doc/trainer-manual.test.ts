// Every trainer has a manual; its example is that of its type, which test/unit/rest/type-examples runs.
import { expect, test } from 'vitest';
import { FUNCTION_TYPES } from '../../../../src/function/built-in.ts';
import { PROCEDURE_TYPES } from '../../../../src/procedure/built-in.ts';
import { exampleRequests } from '../../../../src/rest/doc/example/type-examples.ts';
import {
  MODEL_FUNCTION_MANUALS,
  TRAINER_MANUALS,
} from '../../../../src/rest/doc/trainer-manual.ts';
import { typePage } from '../../../../src/rest/doc/type-reference.ts';

const trainers = PROCEDURE_TYPES.filter(
  ({ name }) => name.endsWith('.train') && name !== 'classifier.train',
);

test.each(trainers.map(({ name }) => name))('%s has a manual', (name) => {
  expect(TRAINER_MANUALS).toHaveProperty([name]);
});

const names = new Set(FUNCTION_TYPES.map(({ name }) => name));

test.each(Object.entries(TRAINER_MANUALS))(
  'the manual of %s names what there is',
  (name, manual) => {
    const type = PROCEDURE_TYPES.find((each) => each.name === name);
    expect(type && exampleRequests(type)).not.toEqual([]);
    if (manual.functionType !== undefined) expect(names).toContain(manual.functionType);
  },
);

test.each(Object.keys(MODEL_FUNCTION_MANUALS))('the page of %s tells when to use it', (name) => {
  const type = FUNCTION_TYPES.find((each) => each.name === name);
  expect(type && typePage(type).body).toContain('<strong>When.</strong>');
});
