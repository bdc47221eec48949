// Texts as other values and back: base64, numbers in texts.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { ANY_TYPE, atomType } from '../../plan/type/type.ts';
import type { Atom } from '../../value/atom.ts';
import { parseNumber } from '../../value/number-text.ts';
import { NULL_VALUE, Scalar, type Value } from '../../value/value.ts';
import { requireAtom, requireText } from '../conversion.ts';
import { family, parameter, STRING_TYPE } from '../declare.ts';
import { rowOf } from '../vector/shape.ts';

const { scalar, value } = family('encoding', { isLinear: true });

export const encodingFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'base64_encode',
    summary: "The base64 text of a blob's bytes, or of the UTF-8 bytes of a text.",
    parameters: [parameter('x', 'a blob, or another atom with a text form')],
    examples: [
      ["base64_encode('hello')", '"aGVsbG8="'],
      ['base64_encode(42)', '"NDI="'],
    ],
    result: STRING_TYPE,
    evaluate: (x = null) => base64Encode(x),
  }),
  scalar({
    name: 'base64_decode',
    summary:
      'The bytes of a base64 text: a string when they are all ASCII, else a blob. Other characters are skipped.',
    parameters: [parameter('s', 'the base64 text; padding is optional')],
    examples: [
      ["base64_decode('aGVsbG8')", '"hello"'],
      ["base64_decode('/wA=')", '{"blob":[255,0]}'],
    ],
    result: atomType('atom'),
    evaluate: (s = null) => base64Decode(requireText(s)),
  }),
  value({
    name: 'implicit_cast',
    summary: 'A string that is a number as that number, the empty string as null; else x itself.',
    parameters: [parameter('x', 'any value')],
    examples: [
      ["implicit_cast('1e3')", '1000'],
      ["implicit_cast('12abc')", '"12abc"'],
      ["implicit_cast('')", 'null'],
    ],
    timestamps: 'own',
    resultType: ([x]) => (x?.type.kind === 'atom' ? atomType('atom') : (x?.type ?? ANY_TYPE)),
    evaluate: ([x]) =>
      x instanceof Scalar ? new Scalar(implicitCast(x.atom), x.ts) : (x as Value),
  }),
  value({
    name: 'extract_column',
    summary: 'The value of one top-level column of a row; null when there is none.',
    parameters: [
      parameter('name', 'the name, one path element: dots in it are not special'),
      parameter('row', 'the row'),
    ],
    examples: [["extract_column('b', {a: 1, b: 2})", '2']],
    timestamps: 'own',
    evaluate: ([name, row]) => {
      const members = rowOf(row as Value);
      const index = members?.indexOf(requireText(requireAtom(name))) ?? -1;
      return index === -1 ? NULL_VALUE : (members?.values[index] as Value);
    },
  }),
];

export function base64Encode(x: Atom): string {
  const bytes = x instanceof Uint8Array ? x : new TextEncoder().encode(requireText(x));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

export function base64Decode(text: string): string | Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(text.replace(/[^A-Za-z0-9+/]/g, ''), 'base64'));
  return bytes.every((byte) => byte < 128) ? new TextDecoder().decode(bytes) : bytes;
}

export function implicitCast(atom: Atom): Atom {
  if (typeof atom !== 'string') return atom;
  return atom === '' ? null : (parseNumber(atom) ?? atom);
}
