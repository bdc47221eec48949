// Paths: their printed form, their elements.
import type { FunctionDeclaration } from '../plan/function.ts';
import { atomType } from '../plan/type/type.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { MINUS_INFINITY } from '../value/timestamp.ts';
import { Embedding, Row, Scalar, type Value } from '../value/value.ts';
import { conversionError, requireAtom, requireUnsigned, structuredError } from './conversion.ts';
import { family, INTEGER_TYPE, parameter, STRING_TYPE } from './declare.ts';
import { atomToPath, pathOfAtoms } from './operator/cast.ts';

const { scalar, value } = family('path', { isLinear: true });

const PATH = parameter(
  'p',
  'a path; another atom is one element, an embedding one element per value',
);

export const pathFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'parse_path',
    summary: 'The path that a text is the printed form of: dots separate, quotes protect.',
    parameters: [parameter('s', 'the printed form')],
    examples: [
      [`parse_path('x."y.z"')`, '{"path":["x","y.z"]}'],
      ["parse_path('a.')", '{"path":["a",""]}'],
    ],
    result: atomType('path'),
    evaluate: (s = null) => (s instanceof Path ? s : Path.parse(atomToPath(s ?? '').toText())),
  }),
  value({
    name: 'stringify_path',
    summary: 'The printed form of a path, elements quoted where they need it.',
    parameters: [PATH],
    examples: [
      ["stringify_path(['x', 'hello.world'])", '"x.\\"hello.world\\""'],
      ["stringify_path('a.b')", '"\\"a.b\\""'],
    ],
    result: STRING_TYPE,
    evaluate: ([p]) => constantScalar(toPath(p).toString()),
  }),
  value({
    name: 'flatten_path',
    summary: 'A path of one element: the printed form of the path.',
    parameters: [PATH],
    examples: [["flatten_path(parse_path('x.y'))", '{"path":["x.y"]}']],
    result: atomType('path'),
    evaluate: ([p]) => constantScalar(Path.of(toPath(p).toString())),
  }),
  value({
    name: 'unflatten_path',
    summary: 'The path whose printed form is the only element of the given path.',
    parameters: [PATH],
    examples: [["unflatten_path(flatten_path(parse_path('x.y.z')))", '{"path":["x","y","z"]}']],
    result: atomType('path'),
    evaluate: ([p]) => {
      const { elements } = toPath(p);
      if (elements.length !== 1) {
        const message = `Attempt to pass non-flattened path with length ${elements.length} to unflatten_path().  Must have length of one.`;
        throw failure('SQL_EXECUTION', message);
      }
      return constantScalar(Path.parse(elements[0] as string));
    },
  }),
  value({
    name: 'path_length',
    summary: 'The number of elements of a path.',
    parameters: [PATH],
    examples: [
      ["path_length(parse_path('a.b.c'))", '3'],
      ["path_length('a.b.c')", '1'],
    ],
    result: INTEGER_TYPE,
    evaluate: ([p]) => constantScalar(toPath(p).length),
  }),
  value({
    name: 'path_element',
    summary: 'The element of a path at a position counted from 0, as a string; null past the end.',
    parameters: [PATH, parameter('n', 'the position, not negative')],
    examples: [["path_element(parse_path('a.b.c'), 1)", '"b"']],
    result: STRING_TYPE,
    evaluate: ([p, n]) => {
      const index = requireUnsigned(requireAtom(n));
      return constantScalar(toPath(p).elements[index] ?? null);
    },
  }),
];

/** The evaluator sets the timestamp. */
function constantScalar(atom: Scalar['atom']): Scalar {
  return new Scalar(atom, MINUS_INFINITY);
}

function toPath(coerced: Value | undefined): Path {
  if (coerced instanceof Row) throw structuredError(coerced);
  if (coerced instanceof Embedding) {
    const path = pathOfAtoms(coerced.atoms);
    if (path === null) throw conversionError(null, 'path');
    return path;
  }
  const atom = requireAtom(coerced);
  if (atom === null) throw conversionError(null, 'path');
  return atomToPath(atom);
}
