// Norms and elementwise arithmetic of vectors.
import type { ValueFunction } from '../../plan/function.ts';
import { ANY_TYPE } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { cellsOf, Embedding, Row, RowBuilder, Scalar, type Value } from '../../value/value.ts';
import { numberAtom, requireAtom, requireDouble } from '../conversion.ts';
import { family, NUMBER_TYPE, parameter } from '../declare.ts';
import { numbersOf } from './shape.ts';

const { value } = family('vector', { isLinear: true });

const POWER = parameter('p', '0: count of non-zero elements, 1, 2, …, or inf: the largest');

export const vectorFunctions: readonly ValueFunction[] = [
  value({
    name: 'norm',
    summary: 'The p-norm of a vector.',
    parameters: [parameter('v', 'a row or embedding of numbers'), POWER],
    examples: [
      ['norm([3, 4], 2)', '5'],
      ['norm([1, 2, 0, 4], 0)', '3'],
    ],
    result: NUMBER_TYPE,
    timestamps: 'first',
    evaluate: ([v, p]) => {
      if (v instanceof Scalar) {
        throw failure(
          'SQL_EXECUTION',
          "Can't take the norm of something that's not a row or embedding",
        );
      }
      return new Scalar(numberAtom(norm(numbersOf(v as Value), power(p))), MINUS_INFINITY);
    },
  }),
  value({
    name: 'normalize',
    summary: 'A vector divided by its p-norm; NaN for the zero vector.',
    parameters: [parameter('v', 'a row or embedding of numbers'), POWER],
    examples: [
      ['print_json(normalize([1, 2, 3, 4], 1))', '"[0.1,0.2,0.3,0.4]"'],
      ['print_json(normalize({a: 3, b: 4}, 2))', '"{\\"a\\":0.6,\\"b\\":0.8}"'],
    ],
    timestamps: 'first',
    resultType: ([v]) => v?.type ?? ANY_TYPE,
    evaluate: ([v, p]) => {
      if (v instanceof Scalar) {
        throw failure('SQL_EXECUTION', "Can't normalize something that's not a row or embedding");
      }
      const size = norm(numbersOf(v as Value), power(p));
      return mapNumbers(v as Value, (x) => x / size);
    },
  }),
  pairwise('vector_sum', 'The sum of two vectors', '"[11,22]"', (a, b) => a + b),
  pairwise('vector_diff', 'The difference of two vectors', '"[9,18]"', (a, b) => a - b),
  pairwise(
    'vector_product',
    'The products of the elements of two vectors',
    '"[10,40]"',
    (a, b) => a * b,
  ),
  pairwise(
    'vector_quotient',
    'The quotients of the elements of two vectors',
    '"[10,10]"',
    (a, b) => a / b,
  ),
];

function pairwise(
  name: string,
  summary: string,
  printed: string,
  apply: (a: number, b: number) => number,
): ValueFunction {
  return value({
    name,
    summary: `${summary}, matched by name, in double precision.`,
    parameters: [
      parameter('a', 'a row or embedding of numbers, which names the columns of the result'),
      parameter('b', 'a row or embedding of numbers; what a row of it lacks is NaN'),
    ],
    examples: [[`print_json(${name}([10, 20], [1, 2]))`, printed]],
    timestamps: 'earliest',
    resultType: ([a]) => a?.type ?? ANY_TYPE,
    evaluate: ([a, b]) => combine(a as Value, b as Value, name, apply),
  });
}

function power(p: Value | undefined): number {
  const number = requireDouble(requireAtom(p));
  if (number >= 0) return number;
  throw failure('SQL_EXECUTION', `Invalid power for norm() function: ${number}`);
}

/** The p-norm; of no elements it is 0, or -Inf for p infinite. */
export function norm(numbers: readonly number[], p: number): number {
  if (p === 2) return Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0));
  if (p === 1) return numbers.reduce((sum, x) => sum + Math.abs(x), 0);
  if (p === 0) return numbers.filter((x) => x !== 0).length;
  if (p === Number.POSITIVE_INFINITY) {
    return numbers.reduce((largest, x) => Math.max(largest, Math.abs(x)), Number.NEGATIVE_INFINITY);
  }
  return numbers.reduce((sum, x) => sum + Math.abs(x) ** p, 0) ** (1 / p);
}

function mapNumbers(v: Value, apply: (x: number) => number): Value {
  if (v instanceof Scalar) return new Scalar(numberAtom(apply(requireDouble(v.atom))), v.ts);
  if (v instanceof Row) {
    const members = v.values.map((member) => mapNumbers(member, apply));
    return new Row(v.names, members);
  }
  const atoms = v.atoms.map((atom) => numberAtom(apply(requireDouble(atom))));
  return new Embedding(v.shape, atoms, v.ts);
}

function combine(a: Value, b: Value, name: string, apply: (a: number, b: number) => number): Value {
  if (a instanceof Scalar || b instanceof Scalar) {
    throw failure('SQL_EXECUTION', `${name} requires two rows or embeddings`);
  }
  if (a instanceof Embedding && b instanceof Embedding) {
    requireCount(a.atoms.length, b.atoms.length);
    const right = numbersOf(b);
    const atoms = a.atoms.map((atom, index) =>
      numberAtom(apply(requireDouble(atom), right[index] as number)),
    );
    return new Embedding(a.shape, atoms, MINUS_INFINITY);
  }
  return combineByName(a, b, apply);
}

function combineByName(
  a: Row | Embedding,
  b: Row | Embedding,
  apply: (a: number, b: number) => number,
): Value {
  const left = cellsOf(a);
  const right = new Map<string, number>();
  for (const { path, atom } of cellsOf(b)) right.set(path.toString(), requireDouble(atom));
  if (b instanceof Embedding) requireCount(left.length, right.size);
  const results = left.map(({ path, atom }) => {
    const name = path.toString();
    const other = right.get(name) ?? Number.NaN;
    right.delete(name);
    return numberAtom(apply(requireDouble(atom), other));
  });
  const [unknown] = right.keys();
  if (unknown !== undefined) {
    throw failure('SQL_EXECUTION', `column '${unknown}' was unknown for embedding`);
  }
  if (a instanceof Embedding) return new Embedding(a.shape, results, MINUS_INFINITY);
  const builder = new RowBuilder();
  left.forEach(({ path }, index) => {
    builder.addPath(path, new Scalar(results[index] as number, MINUS_INFINITY));
  });
  return builder.build();
}

function requireCount(expected: number, given: number): void {
  if (expected === given) return;
  const message = `wrong number of columns for embedding: expected ${expected}, got ${given}`;
  throw failure('SQL_EXECUTION', message);
}
