// The shapes of embeddings: flatten, reshape, concat, slice.
import type { ValueFunction } from '../../plan/function.ts';
import { ANY_TYPE } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { Embedding, NULL_VALUE, Scalar, type Value } from '../../value/value.ts';
import { requireAtom, requireIndex } from '../conversion.ts';
import { family, optional, parameter, VECTOR_TYPE, variadic } from '../declare.ts';
import { isNullValue } from '../option.ts';
import { atomsOf, elementCount, embeddingOf, sameShape, shapeOf } from './shape.ts';

const { value } = family('vector');

export const embeddingFunctions: readonly ValueFunction[] = [
  value({
    name: 'flatten',
    summary: 'A vector of all atoms of a value, rows in natural order of their names.',
    parameters: [parameter('v', 'an embedding, row or atom')],
    examples: [
      ['print_json(flatten([[1, 2], [3, 4]]))', '"[1,2,3,4]"'],
      ['print_json(flatten({b: 2, a: 1, c: {d: 3}}))', '"[1,2,3]"'],
    ],
    timestamps: 'first',
    result: { kind: 'embedding', shape: [-1], element: 'atom' },
    evaluate: ([v]) => vectorOf(atomsOf(v as Value)),
  }),
  value({
    name: 'reshape',
    summary: 'The same elements in another shape; with a fill, elements are added or dropped.',
    parameters: [
      parameter('v', 'an embedding, or null to have nothing but the fill'),
      parameter('shape', 'an embedding of the sizes'),
      optional('fill', 'the atom for elements that v lacks'),
    ],
    examples: [
      ['print_json(reshape([1, 2, 3, 4], [2, 2]))', '"[[1,2],[3,4]]"'],
      ['print_json(reshape([1, 2], [2, 2], 0))', '"[[1,2],[0,0]]"'],
      ['print_json(reshape(null, [3], 7))', '"[7,7,7]"'],
    ],
    nulls: 'handle',
    timestamps: 'first',
    result: { kind: 'embedding', element: 'atom' },
    evaluate: ([v, shape, fill]) => reshape(v as Value, shape as Value, fill),
  }),
  value({
    name: 'shape',
    summary: 'The sizes of an embedding.',
    parameters: [parameter('v', 'an embedding')],
    examples: [['print_json(shape([[1, 2, 3], [4, 5, 6]]))', '"[2,3]"']],
    timestamps: 'first',
    result: VECTOR_TYPE,
    evaluate: ([v]) => {
      const embedding = embeddingOf(v as Value);
      if (embedding === undefined) {
        throw failure('SQL_EXECUTION', 'requires an array as first argument');
      }
      return vectorOf(embedding.shape);
    },
  }),
  value({
    name: 'concat',
    summary: 'Embeddings joined along their first dimension; null without arguments.',
    parameters: [variadic('v', 'an embedding; all sizes but the first must agree')],
    examples: [
      ['print_json(concat([1, 2], [3]))', '"[1,2,3]"'],
      ['print_json(concat([[1, 2]], [[3, 4]]))', '"[[1,2],[3,4]]"'],
    ],
    resultType: (args) => (args.length === 0 ? ANY_TYPE : { kind: 'embedding', element: 'atom' }),
    evaluate: (args) => (args.length === 0 ? NULL_VALUE : concat(args)),
  }),
  value({
    name: 'slice',
    summary: 'The elements at one index of the last dimension; of a vector, an atom.',
    parameters: [parameter('v', 'an embedding'), parameter('i', 'the index, from 0')],
    examples: [
      ['print_json(slice([[1, 2], [3, 4]], 1))', '"[2,4]"'],
      ['slice([5, 6, 7], 2)', '7'],
    ],
    timestamps: 'first',
    evaluate: ([v, i]) => slice(v as Value, requireIndex(requireAtom(i))),
  }),
];

/** The evaluator sets the timestamp. */
function vectorOf(atoms: readonly Atom[]): Embedding {
  return new Embedding([atoms.length], atoms, MINUS_INFINITY);
}

function reshape(v: Value, shapeValue: Value, fill: Value | undefined): Value {
  if (isNullValue(shapeValue)) return NULL_VALUE;
  const sizes = embeddingOf(shapeValue);
  if (sizes === undefined) {
    throw failure('SQL_EXECUTION', 'requires an embedding as second argument');
  }
  const atoms = reshapedAtoms(v, fill !== undefined);
  const shape = shapeOf(sizes);
  const count = elementCount(shape);
  if (fill === undefined) {
    if (atoms.length === count) return new Embedding(shape, atoms, MINUS_INFINITY);
    const message = `Attempt to change embedding size by reshaping.  Original size is [${atoms.length}] target size is [${count}]`;
    throw failure('SQL_EXECUTION', message);
  }
  const filler = requireAtom(fill);
  const filled = Array.from({ length: count }, (_, index) =>
    index < atoms.length ? (atoms[index] as Atom) : filler,
  );
  return new Embedding(shape, filled, MINUS_INFINITY);
}

function reshapedAtoms(v: Value, hasFill: boolean): readonly Atom[] {
  if (v instanceof Scalar) {
    if (!hasFill) {
      throw failure('SQL_EXECUTION', 'Null embedding needs third argument to reshape()');
    }
    if (v.atom === null) return [];
    throw failure('SQL_EXECUTION', 'Expected null first argument for scalar reshape()');
  }
  const embedding = embeddingOf(v);
  if (embedding !== undefined) return embedding.atoms;
  throw failure('SQL_EXECUTION', 'reshape requires an embedding as first argument');
}

function concat(args: readonly Value[]): Embedding {
  const embeddings = args.map((arg) => {
    const embedding = embeddingOf(arg);
    if (embedding === undefined) throw failure('SQL_EXECUTION', 'concat requires embeddings');
    return embedding;
  });
  const [first] = embeddings as [Embedding, ...Embedding[]];
  const inner = first.shape.slice(1);
  const odd = embeddings.find((embedding) => !sameShape(embedding.shape.slice(1), inner));
  if (odd !== undefined) {
    const message = `Attempt to concat vectors with different shapes: [${first.shape}] and [${odd.shape}]`;
    throw failure('SQL_EXECUTION', message);
  }
  const size = embeddings.reduce((sum, embedding) => sum + embedding.length, 0);
  const atoms = embeddings.flatMap((embedding) => embedding.atoms);
  return new Embedding([size, ...inner], atoms, MINUS_INFINITY);
}

function slice(v: Value, index: number): Value {
  const embedding = embeddingOf(v);
  if (embedding === undefined) throw failure('SQL_EXECUTION', 'slice requires an embedding');
  const { shape, atoms } = embedding;
  const last = shape[shape.length - 1] as number;
  if (index < 0) throw failure('SQL_EXECUTION', 'slice function index is less than zero');
  if (index >= last) {
    const message = `slice function index is greater than last dimension size: ${index}, size ${last}`;
    throw failure('SQL_EXECUTION', message);
  }
  if (shape.length === 1) return new Scalar(atoms[index] as Atom, MINUS_INFINITY);
  const rest = shape.slice(0, -1);
  const taken = Array.from(
    { length: elementCount(rest) },
    (_, position) => atoms[position * last + index] as Atom,
  );
  return new Embedding(rest, taken, MINUS_INFINITY);
}
