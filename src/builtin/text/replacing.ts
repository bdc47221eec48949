// Functions that replace single values: what is missing, not finite, or out of bounds.
import type { FunctionDeclaration, ScalarFunction } from '../../plan/function.ts';
import { atomType } from '../../plan/type/type.ts';
import { type Atom, compareAtoms } from '../../value/atom.ts';
import { laterOf } from '../../value/timestamp.ts';
import { Embedding, Row, Scalar, type Value } from '../../value/value.ts';
import { requireAtom, structuredError } from '../conversion.ts';
import { family, parameter } from '../declare.ts';

const { scalar, value } = family('numeric', { isLinear: true });

interface ReplaceOptions {
  readonly name: string;
  readonly summary: string;
  readonly examples: ScalarFunction['examples'];
  readonly replaces: (x: Atom) => boolean;
}

function replacing({ replaces, ...documentation }: ReplaceOptions): ScalarFunction {
  return scalar({
    ...documentation,
    parameters: [
      parameter('x', 'any value; rows and embeddings are treated element by element'),
      parameter('y', 'the replacement, an atom'),
    ],
    result: atomType('atom'),
    nulls: 'handle',
    elementwise: 'first-only',
    evaluate: (x = null, y = null) => (replaces(x) ? y : x),
  });
}

function isInfinite(x: Atom): boolean {
  return x === Number.POSITIVE_INFINITY || x === Number.NEGATIVE_INFINITY;
}

export const replacingFunctions: readonly FunctionDeclaration[] = [
  replacing({
    name: 'replace_nan',
    summary: 'y where x is NaN, else x.',
    examples: [
      ['replace_nan(0/0, 5)', '5'],
      ["replace_nan('abc', 1)", '"abc"'],
    ],
    replaces: (x) => typeof x === 'number' && Number.isNaN(x),
  }),
  replacing({
    name: 'replace_inf',
    summary: 'y where x is Inf or -Inf, else x.',
    examples: [['replace_inf(-1/0, 9)', '9']],
    replaces: isInfinite,
  }),
  replacing({
    name: 'replace_not_finite',
    summary: 'y where x is NaN, Inf or -Inf, else x.',
    examples: [['replace_not_finite(0/0, -1)', '-1']],
    replaces: (x) => typeof x === 'number' && !Number.isFinite(x),
  }),
  replacing({
    name: 'replace_null',
    summary: 'y where x is null, else x. Columns that a row does not have are not added.',
    examples: [['replace_null(null, 7)', '7']],
    replaces: (x) => x === null,
  }),
  value({
    name: 'clamp',
    summary:
      'x where it lies within the limits, else the nearer limit; a null limit does not bind, and NaN takes the lower limit.',
    parameters: [
      parameter('x', 'an atom, or a row or embedding whose columns are limited one by one'),
      parameter('lower', 'the lower limit or null'),
      parameter('upper', 'the upper limit or null'),
    ],
    examples: [
      ['clamp(5, 1, 3)', '3'],
      ['clamp(-2, -1, null)', '-1'],
      ["clamp('m', 'a', 'f')", '"f"'],
    ],
    nulls: 'handle',
    timestamps: 'own',
    resultType: ([x]) => (x?.type.kind === 'atom' ? atomType('atom') : { kind: 'any' }),
    evaluate: ([x, lower, upper]) => clampValue(x as Value, lower as Value, upper as Value),
  }),
];

function clampValue(x: Value, lower: Value, upper: Value): Value {
  const low = requireAtom(lower);
  const high = requireAtom(upper);
  const ts = laterOf((lower as Scalar).ts, (upper as Scalar).ts);
  const clampScalar = (member: Value): Scalar => {
    if (!(member instanceof Scalar)) throw structuredError(member);
    return new Scalar(clampAtom(member.atom, low, high), laterOf(member.ts, ts));
  };
  if (x instanceof Scalar) return clampScalar(x);
  if (x instanceof Row) return new Row(x.names, x.values.map(clampScalar));
  if (x.shape.length > 1) throw structuredError(x.at(0));
  const atoms = x.atoms.map((atom) => clampAtom(atom, low, high));
  return new Embedding(x.shape, atoms, laterOf(x.ts, ts));
}

export function clampAtom(atom: Atom, lower: Atom, upper: Atom): Atom {
  if (atom === null) return null;
  if (typeof atom === 'number' && Number.isNaN(atom)) return lower === null ? atom : lower;
  if (compareAtoms(atom, lower) < 0) return lower;
  return upper !== null && compareAtoms(atom, upper) > 0 ? upper : atom;
}
