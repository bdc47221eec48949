// Values written as texts, and what is accepted in words, both from the same schema.
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { acceptedText } from '../../../src/schema/accepted.ts';
import { choice } from '../../../src/schema/declare.ts';
import { fromText } from '../../../src/schema/from-text.ts';
import { matches } from '../../../src/schema/parse.ts';
import { schemaData } from '../../../src/schema/schema-data.ts';

const SCORE = Type.Union([Type.Number(), Type.Literal('auto')]);
const SIGNS = Type.Record(Type.String(), Type.Integer({ minimum: -1, maximum: 1 }));
const NAME = choice(['a', 'b'], { description: '' });

describe('a value may be written as a text', () => {
  test.each([
    [Type.Boolean(), 'true', true],
    [Type.Boolean(), 0, false],
    [Type.Boolean(), ' 1 ', true],
    [Type.Integer(), '12', 12],
    [Type.Number(), ' 1e-3 ', 0.001],
    [Type.String(), 50, '50'],
    [NAME, ' a ', 'a'],
    [SCORE, '0.5', 0.5],
    [SCORE, 'auto', 'auto'],
    [SIGNS, { x: -1 }, { x: -1 }],
  ])('%j: %j', (schema, value, expected) => {
    const read = fromText(schemaData(schema), value);
    expect(read).toEqual(expected);
    expect(matches(schema, read)).toBe(true);
  });
});

test('an integer past the exact numbers is the nearest number', () => {
  expect(fromText(schemaData(Type.Integer()), 2n ** 60n)).toBe(2 ** 60);
});

describe('what says no value of the kind is left for the check to refuse', () => {
  test.each([
    [Type.Boolean(), 'yes'],
    [Type.Boolean(), null],
    [Type.Number(), ''],
    [Type.Number(), 'much'],
    [Type.Number(), 'Infinity'],
    [Type.Number(), true],
    [Type.Number(), ['1']],
    [Type.Integer(), '1.5'],
    [Type.Number({ exclusiveMinimum: 0 }), '0'],
    [Type.String(), {}],
    [NAME, 'c'],
    [SCORE, 'some'],
    [SCORE, null],
    [SIGNS, { x: 2 }],
    [SIGNS, [0]],
  ])('%j: %j', (schema, value) => {
    expect(matches(schema, fromText(schemaData(schema), value))).toBe(false);
  });
});

test.each([
  [Type.Boolean(), 'true or false'],
  [Type.Integer({ minimum: 0, maximum: 5 }), 'a whole number from 0 to 5'],
  [Type.Number({ exclusiveMinimum: 0, maximum: 1 }), 'a number above 0 to 1'],
  [Type.Number({ maximum: 1 }), 'a number to 1'],
  [Type.Number(), 'a number'],
  [Type.String(), 'a text'],
  [Type.String({ pattern: '^x+$', accepted: 'letters x' }), 'letters x'],
  [NAME, 'one of a, b'],
  [SCORE, 'a number or auto'],
  [SIGNS, 'an object of whole numbers from -1 to 1'],
])('%j is described as %s', (schema, text) => {
  expect(acceptedText(schemaData(schema))).toBe(text);
});
