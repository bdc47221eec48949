// Functions that choose among their arguments, and what tells of a value or makes one.
import { randomUUID } from 'node:crypto';
import type { BoundArgument, FunctionDeclaration } from '../plan/function.ts';
import { atomType, commonType, type ValueType } from '../plan/type/type.ts';
import { failure } from '../util/error.ts';
import { isTrue } from '../value/atom.ts';
import {
  compareValues,
  constant,
  Embedding,
  NULL_VALUE,
  Scalar,
  type Value,
} from '../value/value.ts';
import { requireAtom, requireText } from './conversion.ts';
import { family, parameter, STRING_TYPE, variadic } from './declare.ts';
import { seriesLength, seriesOf } from './operator/series.ts';
import { isNullValue } from './option.ts';

const { value, scalar } = family('conditional', { isLinear: true });
const { value: making } = family('conditional');

const ANY = parameter('x', 'any value');

function typeOfAny(args: readonly BoundArgument[]): ValueType {
  return args.map(({ type }) => type).reduce(commonType);
}

/** Members that a series may have as a value. */
const SERIES_LENGTH_MAX = 10_000_000;

function series(
  name: 'generate_series' | 'range',
  inclusive: boolean,
  example: readonly [string, string],
) {
  return making({
    name,
    summary: `The numbers or timestamps from a to b by equal steps, b ${inclusive ? 'included' : 'left out'}, as an embedding; in FROM a table with one column.`,
    parameters: [
      parameter('a', inclusive ? 'the first' : 'the first; alone: the end, from 0'),
      { ...parameter('b', 'the end'), ...(inclusive ? {} : { optional: true }) },
      { ...parameter('step', 'default 1; an interval between timestamps'), optional: true },
    ],
    examples: [example],
    evaluate: (args) => {
      const [first = null, second, step] = args.map(requireAtom);
      const [from, to] = second === undefined ? [0, first] : [first, second];
      const tooLong = () =>
        failure(
          'SQL_EXECUTION',
          `${name} makes at most ${SERIES_LENGTH_MAX} values; put it into FROM`,
        );
      // What is refused costs nothing.
      if ((seriesLength(from, to, step) ?? 0) > SERIES_LENGTH_MAX + 1) throw tooLong();
      const atoms = [];
      for (const atom of seriesOf(from, to, step, inclusive)) {
        if (atoms.length >= SERIES_LENGTH_MAX) throw tooLong();
        atoms.push(atom);
      }
      return new Embedding([atoms.length], atoms, Number.NEGATIVE_INFINITY);
    },
  });
}

export const conditionalFunctions: readonly FunctionDeclaration[] = [
  value({
    name: 'coalesce',
    aliases: ['ifnull'],
    summary: 'The first argument that is not null; null when all are.',
    parameters: [ANY, variadic('y', 'what stands for null')],
    examples: [
      ['coalesce(NULL, NULL, 3)', '3'],
      ["ifnull(NULL, 'x')", '"x"'],
    ],
    nulls: 'handle',
    resultType: typeOfAny,
    evaluate: (args) => args.find((arg) => !isNullValue(arg)) ?? NULL_VALUE,
  }),
  value({
    name: 'nullif',
    summary: 'Null when both are equal, else the first.',
    parameters: [ANY, parameter('y', 'any value')],
    examples: [
      ['nullif(1, 1)', 'null'],
      ['nullif(2, 1)', '2'],
    ],
    nulls: 'handle',
    resultType: ([x]) => x?.type ?? atomType('atom'),
    evaluate: ([x, y]) => {
      const equal = !isNullValue(y) && compareValues(x as Value, y as Value) === 0;
      return equal ? NULL_VALUE : (x as Value);
    },
  }),
  value({
    name: 'if',
    aliases: ['iff'],
    summary: 'The second argument where the first is true, else the third.',
    parameters: [
      parameter('c', 'a condition'),
      parameter('a', 'where it is true'),
      parameter('b', 'elsewhere, null included'),
    ],
    examples: [["if(2 > 1, 'y', 'n')", '"y"']],
    nulls: 'handle',
    resultType: ([, a, b]) =>
      a === undefined || b === undefined ? atomType('atom') : commonType(a.type, b.type),
    evaluate: ([c, a, b]) =>
      c instanceof Scalar && c.atom !== null && isTrue(c.atom) ? (a as Value) : (b as Value),
  }),
  value({
    name: 'typeof',
    summary:
      'The type of a value: null, integer, double, string, timestamp, interval, blob, path, row or embedding.',
    parameters: [ANY],
    examples: [
      ['typeof(1)', '"integer"'],
      ["typeof('a')", '"string"'],
    ],
    result: STRING_TYPE,
    nulls: 'handle',
    evaluate: ([x]) => constant(typeNameOf(x as Value)),
  }),
  making({
    name: 'uuid',
    summary: 'A random identifier of 36 characters (version 4).',
    parameters: [],
    examples: [['length(uuid())', '36']],
    result: STRING_TYPE,
    volatility: 'volatile',
    timestamps: 'constant',
    evaluate: () => constant(randomUUID()),
  }),
  scalar({
    name: 'error',
    summary: 'Fails with a message, where it is evaluated.',
    parameters: [parameter('message', 'a text')],
    examples: [["try(error('too much'), 'caught')", '"caught"']],
    result: atomType('atom'),
    volatility: 'volatile',
    nulls: 'handle',
    evaluate: (message = null) => {
      throw failure('SQL_EXECUTION', message === null ? 'error' : requireText(message));
    },
  }),
  series('generate_series', true, ['print_json(generate_series(2, 8, 3))', '"[2,5,8]"']),
  series('range', false, ['print_json(range(3))', '"[0,1,2]"']),
];

/** The name of the type that the manual has for a value. */
function typeNameOf(x: Value): string {
  if (x instanceof Embedding) return 'embedding';
  if (!(x instanceof Scalar)) return 'row';
  const { atom } = x;
  if (atom === null) return 'null';
  switch (typeof atom) {
    case 'bigint':
      return 'integer';
    case 'number':
      return Number.isInteger(atom) ? 'integer' : 'double';
    case 'string':
      return 'string';
    default:
      return atom instanceof Uint8Array ? 'blob' : atom.constructor.name.toLowerCase();
  }
}
