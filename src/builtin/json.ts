// print_json and parse_json.
import type { ValueFunction } from '../plan/function.ts';
import { ANY_TYPE, OPEN_ROW_TYPE, type ValueType } from '../plan/type/type.ts';
import { failure, RowanError } from '../util/error.ts';
import { JsonSyntaxError, parseJson, stringifyJson } from '../util/exact-json.ts';
import { type Atom, normalizeInteger } from '../value/atom.ts';
import { atomToJsonText } from '../value/json.ts';
import { compareText } from '../value/natural-order.ts';
import { atomText } from '../value/text.ts';
import { MINUS_INFINITY } from '../value/timestamp.ts';
import { Embedding, Row, Scalar, sortedRow, type Value } from '../value/value.ts';
import { numberAtom, requireAtom, requireText } from './conversion.ts';
import { family, optional, parameter, STRING_TYPE } from './declare.ts';
import {
  booleanOption,
  choiceOption,
  type OptionReaders,
  prepareOptions,
  readOptions,
} from './option.ts';

const { value } = family('json', { isLinear: true });

const ARRAY_MODES = ['parse', 'encode'] as const;

interface JsonOptions {
  arrays: (typeof ARRAY_MODES)[number];
  ignoreErrors: boolean;
}

const DEFAULTS: Readonly<JsonOptions> = { arrays: 'parse', ignoreErrors: false };

const READERS: OptionReaders<JsonOptions> = {
  arrays: (option, options) => {
    options.arrays = choiceOption(option, ARRAY_MODES);
  },
  ignoreErrors: (option, options) => {
    options.ignoreErrors = booleanOption(option);
  },
};

function extracting(
  name: string,
  summary: string,
  example: readonly [string, string],
  result: ValueType,
  give: (found: unknown) => Value,
): ValueFunction {
  return value({
    name,
    summary,
    parameters: [
      parameter('j', 'the text of a JSON document'),
      parameter('path', 'such as $.a.b[1], /a/b/1, or one name'),
    ],
    examples: [example],
    result,
    evaluate: ([j, path]) => {
      const found = memberAt(requireText(requireAtom(j)), requireText(requireAtom(path)));
      return found === undefined || found === null ? new Scalar(null, MINUS_INFINITY) : give(found);
    },
  });
}

/** @throws SQL_EXECUTION for text that is no JSON */
function memberAt(text: string, path: string): unknown {
  let found: unknown;
  try {
    found = parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw failure('SQL_EXECUTION', `not JSON: ${error.message}`);
    throw error;
  }
  for (const step of jsonSteps(path)) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step))
      return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}

function jsonSteps(path: string): readonly string[] {
  if (path.startsWith('/')) return path.slice(1).split('/');
  if (!path.startsWith('$')) return [path];
  const steps = [...path.slice(1).matchAll(/\.("[^"]*"|[^.[\]]+)|\[(\d+)\]/g)];
  if (steps.map(([step]) => step).join('') !== path.slice(1)) {
    throw failure('SQL_EXECUTION', `'${path}' is no path of a JSON document; such as $.a.b[1]`);
  }
  return steps.map(([, name, index]) => index ?? (name as string).replace(/^"|"$/g, ''));
}

export const jsonFunctions: readonly ValueFunction[] = [
  extracting(
    'json_extract',
    'A member of a JSON document, of the type that it has there; null when there is none.',
    [`json_extract('{"a": {"b": [7, 8]}}', '$.a.b[0]')`, '7'],
    ANY_TYPE,
    (found) => {
      if (!isContainer(found)) return new Scalar(atomOf(found), MINUS_INFINITY);
      return rowFromJson(found, false, MINUS_INFINITY);
    },
  ),
  extracting(
    'json_extract_string',
    'A member of a JSON document as text; null when there is none.',
    [`json_extract_string('{"a": [1, "two"]}', '$.a[1]')`, '"two"'],
    STRING_TYPE,
    (found) => new Scalar(typeof found === 'string' ? found : stringifyJson(found), MINUS_INFINITY),
  ),
  value({
    name: 'print_json',
    summary: 'The value as compact JSON text; rows with the names 0, 1, … are arrays.',
    parameters: [parameter('x', 'any value; null gives the text null')],
    examples: [
      ["print_json({b: 'x', a: [1, 2]})", '"{\\"a\\":[1,2],\\"b\\":\\"x\\"}"'],
      ['print_json(null)', '"null"'],
    ],
    result: STRING_TYPE,
    nulls: 'handle',
    timestamps: 'first',
    evaluate: ([x]) => new Scalar(printJson(x as Value), MINUS_INFINITY),
  }),
  value({
    name: 'parse_json',
    summary: 'The row that a JSON object or array describes; nested ones are nested rows.',
    parameters: [
      parameter('s', 'the text of a JSON object or array'),
      optional(
        'options',
        "row of arrays ('parse', the default, or 'encode': arrays of atoms give a column of value 1 for each element, arrays of objects their JSON text) and ignoreErrors (default false; if true, what is not JSON gives {__parse_json_error__: 1})",
      ),
    ],
    examples: [
      [`print_json(parse_json('{"a": [true, null]}'))`, '"{\\"a\\":[1,null]}"'],
      [
        `print_json(parse_json('{"f": ["g", "h"]}', {arrays: 'encode'}))`,
        '"{\\"f\\":{\\"g\\":1,\\"h\\":1}}"',
      ],
    ],
    result: OPEN_ROW_TYPE,
    timestamps: 'own',
    bind: ([, options]) => {
      const optionsOf = prepareOptions(options, (given) => readOptions(DEFAULTS, READERS, given));
      return ([text, given]) => parseText(text as Value, optionsOf(given));
    },
  }),
];

export function printJson(printed: Value): string {
  if (printed instanceof Scalar) return atomToJsonText(printed.atom);
  if (printed instanceof Embedding) {
    const elements = Array.from({ length: printed.length }, (_, i) => printJson(printed.at(i)));
    return `[${elements.join(',')}]`;
  }
  const members = printed.values.map(printJson);
  if (printed.length > 0 && printed.names.every((name, index) => name === String(index))) {
    return `[${members.join(',')}]`;
  }
  // Of several values under one name, an atom beside a nested row, the first is shown.
  const entries = printed.names.flatMap((name, index) =>
    name === printed.names[index - 1] ? [] : [`${JSON.stringify(name)}:${members[index]}`],
  );
  return `{${entries.join(',')}}`;
}

function parseText(text: Value, options: JsonOptions): Value {
  const { ts } = text as Scalar;
  try {
    return parseRow(requireText(requireAtom(text)), options, ts);
  } catch (error) {
    if (!options.ignoreErrors || !(error instanceof RowanError)) throw error;
    return new Row(['__parse_json_error__'], [new Scalar(1, ts)]);
  }
}

function parseRow(text: string, options: JsonOptions, ts: number): Row {
  const json = /^\s*[[{]/.test(text) ? parse(text) : undefined;
  if (json === undefined) {
    const message = `JSON passed to parse_json must be an object or an array; got '${text}'`;
    throw failure('SQL_EXECUTION', message);
  }
  return rowFromJson(json as object, options.arrays === 'encode', ts);
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw failure('SQL_EXECUTION', `bad JSON: ${error.message}`);
    throw error;
  }
}

/** Empty objects and arrays give no column. */
function rowFromJson(json: object, encode: boolean, ts: number): Row {
  if (encode && Array.isArray(json)) {
    const encoded = encodeArray(json, ts);
    if (encoded !== undefined) return encoded;
  }
  const names: string[] = [];
  const values: Value[] = [];
  for (const [name, member] of Object.entries(json)) {
    const memberValue = isContainer(member)
      ? rowFromJson(member, encode, ts)
      : new Scalar(atomOf(member), ts);
    if (memberValue instanceof Row && memberValue.length === 0) continue;
    names.push(name);
    values.push(memberValue);
  }
  return sortedRow(names, values);
}

/** Arrays of only atoms and of only objects; undefined for others, which stay structured. */
function encodeArray(array: readonly unknown[], ts: number): Row | undefined {
  if (!array.some(isContainer)) {
    const names = new Set<string>();
    for (const element of array) {
      const atom = atomOf(element);
      if (atom !== null) names.add(atomText(atom));
    }
    return sortedRow(
      [...names],
      Array.from(names, () => new Scalar(1, ts)),
    );
  }
  if (!array.every((element) => isContainer(element) && !Array.isArray(element))) return undefined;
  return new Row(
    array.map((_, index) => String(index)),
    array.map((element) => new Scalar(textWithSortedKeys(element), ts)),
  );
}

/** Equal objects have equal texts, whatever the order in which they were written. */
function textWithSortedKeys(json: unknown): string {
  if (!isContainer(json)) return stringifyJson(json);
  if (Array.isArray(json)) return `[${json.map(textWithSortedKeys).join(',')}]`;
  const members = Object.entries(json)
    .sort(([a], [b]) => compareText(a, b))
    .map(([key, member]) => `${JSON.stringify(key)}:${textWithSortedKeys(member)}`);
  return `{${members.join(',')}}`;
}

function isContainer(json: unknown): json is object {
  return typeof json === 'object' && json !== null;
}

function atomOf(json: unknown): Atom {
  switch (typeof json) {
    case 'number':
      return numberAtom(json);
    case 'bigint':
      return normalizeInteger(json);
    case 'string':
      return json;
    case 'boolean':
      return json ? 1 : 0;
  }
  return null;
}
