// Text functions by the names that SQL has for them. Positions count from 1, in code points.
import { createHash } from 'node:crypto';
import type { FunctionDeclaration, ScalarFunction } from '../../plan/function.ts';
import { atomType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Embedding } from '../../value/value.ts';
import { numberAtom, requireAtom, requireIndex, requireText, truthAtom } from '../conversion.ts';
import {
  family,
  INTEGER_TYPE,
  NUMBER_TYPE,
  optional,
  parameter,
  STRING_TYPE,
  variadic,
} from '../declare.ts';
import { formatBraces, formatPercent } from './format-text.ts';
import { codePointCount } from './string.ts';

const { scalar, value } = family('string', { isLinear: true });
/** What can make a long text of short arguments. */
const growing = family('string');

const TEXT = parameter('s', 'a text, or another atom with a text form');
const COUNT = parameter('n', 'a number of characters');

/** Longest text that a function may make of short arguments. */
const TEXT_LENGTH_MAX = 16 * 1024 * 1024;

function refuseLongText(name: string, length: number): void {
  if (length <= TEXT_LENGTH_MAX) return;
  throw failure('SQL_EXECUTION', `${name} makes texts of at most ${TEXT_LENGTH_MAX} characters`);
}

function textMap(
  name: string,
  summary: string,
  example: readonly [string, string],
  apply: (text: string) => Atom,
  result = STRING_TYPE,
): ScalarFunction {
  return scalar({
    name,
    summary,
    parameters: [TEXT],
    examples: [example],
    result,
    evaluate: (s = null) => apply(requireText(s)),
  });
}

/** Characters from position `start` (1 is the first; negative: from the end), at most `length`. */
export function substring(text: string, start: number, length?: number): string {
  const characters = [...text];
  const count = characters.length;
  let from = start < 0 ? Math.max(0, count + start) : start - 1;
  let to = length === undefined ? count : from + length;
  if (length !== undefined && length < 0) [from, to] = [to, from];
  return characters.slice(Math.max(0, from), Math.max(0, to)).join('');
}

function padded(name: string, side: 'left' | 'right', example: readonly [string, string]) {
  return growing.scalar({
    name,
    summary: `The text with \`fill\` repeated on its ${side} until it has n characters; cut to n when it is longer.`,
    parameters: [TEXT, COUNT, parameter('fill', 'a text that is not empty')],
    examples: [example],
    result: STRING_TYPE,
    evaluate: (s = null, n = null, fill = null) => {
      const characters = [...requireText(s)];
      const length = Math.max(0, requireIndex(n));
      refuseLongText(name, length);
      if (characters.length >= length) return characters.slice(0, length).join('');
      const filler = [...requireText(fill)];
      if (filler.length === 0) {
        throw failure('SQL_EXECUTION', `${name} cannot fill with an empty text`);
      }
      const missing = length - characters.length;
      const added = Array.from({ length: missing }, (_, i) => filler[i % filler.length]);
      return [
        ...(side === 'left' ? added : []),
        ...characters,
        ...(side === 'left' ? [] : added),
      ].join('');
    },
  });
}

function trimming(
  name: string,
  sides: { left: boolean; right: boolean },
  summary: string,
  example: readonly [string, string],
) {
  return scalar({
    name,
    summary,
    parameters: [TEXT, optional('characters', 'each of them is removed; default: the space')],
    examples: [example],
    result: STRING_TYPE,
    evaluate: (s = null, characters = ' ') => {
      const set = new Set(requireText(characters));
      const text = [...requireText(s)];
      let from = 0;
      let to = text.length;
      if (sides.left) while (from < to && set.has(text[from] as string)) from++;
      if (sides.right) while (to > from && set.has(text[to - 1] as string)) to--;
      return text.slice(from, to).join('');
    },
  });
}

/** The position of a text within another, from 1; 0 when it is not there. */
function positionOf(text: string, part: string): number {
  const index = text.indexOf(part);
  return index === -1 ? 0 : codePointCount(text.slice(0, index)) + 1;
}

function test(
  name: string,
  summary: string,
  example: readonly [string, string],
  holds: (text: string, part: string) => boolean,
) {
  return scalar({
    name,
    summary,
    parameters: [TEXT, parameter('part', 'a text')],
    examples: [example],
    result: INTEGER_TYPE,
    evaluate: (s = null, part = null) => truthAtom(holds(requireText(s), requireText(part))),
  });
}

function digest(name: 'md5' | 'sha256', example: string) {
  return scalar({
    name,
    summary: `The ${name.toUpperCase()} digest of the bytes of a blob or of a text in UTF-8, in hexadecimal.`,
    parameters: [parameter('s', 'a text or a blob')],
    examples: [[`${name}('abc')`, `"${example}"`]],
    result: STRING_TYPE,
    evaluate: (s = null) => createHash(name).update(bytesOf(s)).digest('hex'),
  });
}

function bytesOf(atom: Atom): Uint8Array {
  return atom instanceof Uint8Array ? atom : new TextEncoder().encode(requireText(atom));
}

function splitting(name: string, aliases: readonly string[] = []) {
  return value({
    name,
    aliases,
    summary: 'The parts of the text between separators, as an embedding.',
    parameters: [TEXT, parameter('separator', 'a text; empty: every character is a part')],
    examples: [[`print_json(${name}('a-b', '-'))`, '"[\\"a\\",\\"b\\"]"']],
    result: { kind: 'embedding', shape: [-1], element: 'string' },
    evaluate: ([s, separator]) => {
      const text = requireText(requireAtom(s));
      const by = requireText(requireAtom(separator));
      const parts = by === '' ? [...text] : text.split(by);
      return new Embedding([parts.length], parts, Number.NEGATIVE_INFINITY);
    },
  });
}

export const textFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'text_concat',
    summary: 'The texts of both one after the other, as a || b has it.',
    parameters: [parameter('a', 'any atom'), parameter('b', 'any atom')],
    examples: [
      ["'row' || 1", '"row1"'],
      ["text_concat('a', NULL)", 'null'],
    ],
    result: STRING_TYPE,
    evaluate: (a = null, b = null) => requireText(a) + requireText(b),
  }),
  scalar({
    name: 'substring',
    aliases: ['substr'],
    summary: 'The characters from a position on; a negative position counts from the end.',
    parameters: [
      TEXT,
      parameter('start', 'the first position, from 1'),
      optional('length', 'how many characters'),
    ],
    examples: [
      ["substring('rowan', 2, 3)", '"owa"'],
      ["substring('rowan', -2)", '"an"'],
    ],
    result: STRING_TYPE,
    evaluate: (s = null, start = null, length) =>
      substring(
        requireText(s),
        requireIndex(start),
        length === undefined ? undefined : requireIndex(length),
      ),
  }),
  scalar({
    name: 'left',
    summary: 'The first n characters; a negative n leaves out the last ones.',
    parameters: [TEXT, COUNT],
    examples: [["left('rowan', 2)", '"ro"']],
    result: STRING_TYPE,
    evaluate: (s = null, n = null) => [...requireText(s)].slice(0, requireIndex(n)).join(''),
  }),
  scalar({
    name: 'right',
    summary: 'The last n characters; a negative n leaves out the first ones.',
    parameters: [TEXT, COUNT],
    examples: [["right('rowan', 2)", '"an"']],
    result: STRING_TYPE,
    evaluate: (s = null, n = null) => {
      const characters = [...requireText(s)];
      const count = requireIndex(n);
      return characters.slice(count < 0 ? -count : Math.max(0, characters.length - count)).join('');
    },
  }),
  trimming('trim', { left: true, right: true }, 'The text without spaces at both ends.', [
    "trim('--x-', '-')",
    '"x"',
  ]),
  trimming('ltrim', { left: true, right: false }, 'The text without spaces at its beginning.', [
    "ltrim('  x')",
    '"x"',
  ]),
  trimming('rtrim', { left: false, right: true }, 'The text without spaces at its end.', [
    "rtrim('x  ')",
    '"x"',
  ]),
  growing.scalar({
    name: 'replace',
    summary: 'The text with every occurrence of one text replaced by another.',
    parameters: [
      TEXT,
      parameter('from', 'the text to replace'),
      parameter('to', 'what stands there then'),
    ],
    examples: [["replace('banana', 'an', 'AN')", '"bANANa"']],
    result: STRING_TYPE,
    evaluate: (s = null, from = null, to = null) => {
      const [text, old, fresh] = [requireText(s), requireText(from), requireText(to)];
      if (old === '') return text;
      const parts = text.split(old);
      refuseLongText('replace', text.length + parts.length * fresh.length);
      return parts.join(fresh);
    },
  }),
  scalar({
    name: 'translate',
    summary:
      'Each character of `from` becomes the one at its place in `to`, or goes where there is none.',
    parameters: [TEXT, parameter('from', 'characters'), parameter('to', 'characters')],
    examples: [["translate('abcab', 'ab', 'xy')", '"xycxy"']],
    result: STRING_TYPE,
    evaluate: (s = null, from = null, to = null) => {
      const targets = [...requireText(to)];
      const map = new Map<string, string>();
      [...requireText(from)].forEach((character, index) => {
        if (!map.has(character)) map.set(character, targets[index] ?? '');
      });
      return [...requireText(s)].map((character) => map.get(character) ?? character).join('');
    },
  }),
  textMap(
    'reverse',
    'The characters from the last to the first.',
    ["reverse('añb')", '"bña"'],
    (text) => [...text].reverse().join(''),
  ),
  growing.scalar({
    name: 'repeat',
    summary: 'The text n times.',
    parameters: [TEXT, parameter('n', 'how often; nothing below 1')],
    examples: [["repeat('ab', 3)", '"ababab"']],
    result: STRING_TYPE,
    evaluate: (s = null, n = null) => {
      const text = requireText(s);
      const count = Math.max(0, requireIndex(n));
      refuseLongText('repeat', text.length * count);
      return text.repeat(count);
    },
  }),
  padded('lpad', 'left', ["lpad('7', 3, '0')", '"007"']),
  padded('rpad', 'right', ["rpad('ab', 4, '.')", '"ab.."']),
  scalar({
    name: 'strpos',
    aliases: ['instr', 'position'],
    summary: 'Where a text first stands within another, from 1; 0 when it does not.',
    parameters: [TEXT, parameter('part', 'the text to look for')],
    examples: [
      ["strpos('rowan', 'wa')", '3'],
      ["POSITION('z' IN 'rowan')", '0'],
    ],
    result: INTEGER_TYPE,
    evaluate: (s = null, part = null) => positionOf(requireText(s), requireText(part)),
  }),
  test(
    'starts_with',
    'Whether a text begins with another.',
    ["starts_with('rowan', 'ro')", '1'],
    (text, part) => text.startsWith(part),
  ),
  test(
    'ends_with',
    'Whether a text ends with another.',
    ["ends_with('rowan', 'x')", '0'],
    (text, part) => text.endsWith(part),
  ),
  test(
    'contains',
    'Whether a text has another within it.',
    ["contains('rowan', 'owa')", '1'],
    (text, part) => text.includes(part),
  ),
  splitting('string_split', ['split']),
  growing.scalar({
    name: 'concat_ws',
    summary: 'The texts of all arguments that are not null, with a separator between them.',
    parameters: [parameter('separator', 'a text'), variadic('x', 'any atom')],
    examples: [["concat_ws('-', 'a', NULL, 'b')", '"a-b"']],
    result: STRING_TYPE,
    nulls: 'handle',
    evaluate: (separator = null, ...parts) => {
      if (separator === null) return null;
      return parts
        .filter((part) => part !== null)
        .map(requireText)
        .join(requireText(separator));
    },
  }),
  growing.scalar({
    name: 'format',
    summary: 'The text with each {} replaced by the next argument; {0} names one, {:.2f} says how.',
    parameters: [parameter('f', 'a text with {}'), variadic('x', 'what stands there')],
    examples: [
      ["format('{} is {}', 'x', 3)", '"x is 3"'],
      ["format('{1}{0}', 'a', 'b')", '"ba"'],
    ],
    result: STRING_TYPE,
    evaluate: (f = null, ...args) => formatBraces(requireText(f), args),
  }),
  growing.scalar({
    name: 'printf',
    summary: 'The text with %d, %i, %f, %e, %g, %x, %s and %% filled in, as in C.',
    parameters: [parameter('f', 'a text with % and letters'), variadic('x', 'what stands there')],
    examples: [
      ["printf('%s-%05d', 'x', 42)", '"x-00042"'],
      ["printf('%.2f', 3.14159)", '"3.14"'],
    ],
    result: STRING_TYPE,
    evaluate: (f = null, ...args) => formatPercent(requireText(f), args),
  }),
  textMap(
    'initcap',
    'Each word with its first letter in upper case and the others in lower case.',
    ["initcap('hello wORLD')", '"Hello World"'],
    (text) =>
      text.toLowerCase().replace(/[\p{L}\p{N}]+/gu, (word) => {
        const [first = ''] = word;
        return first.toUpperCase() + word.slice(first.length);
      }),
  ),
  textMap(
    'ascii',
    'The code point of the first character; 0 for the empty text.',
    ["ascii('A')", '65'],
    (text) => text.codePointAt(0) ?? 0,
    INTEGER_TYPE,
  ),
  scalar({
    name: 'chr',
    summary: 'The character with a code point.',
    parameters: [parameter('n', 'a code point')],
    examples: [['chr(233)', '"é"']],
    result: STRING_TYPE,
    evaluate: (n = null) => {
      const code = requireIndex(n);
      if (code >= 1 && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000))
        return String.fromCodePoint(code);
      throw failure('SQL_EXECUTION', `${code} is no code point of a character`);
    },
  }),
  digest('md5', '900150983cd24fb0d6963f7d28e17f72'),
  digest('sha256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'),
  scalar({
    name: 'base64',
    aliases: ['to_base64'],
    summary: 'The bytes of a blob or of a text in UTF-8, in base64.',
    parameters: [parameter('s', 'a text or a blob')],
    examples: [["base64('abc')", '"YWJj"']],
    result: STRING_TYPE,
    evaluate: (s = null) => Buffer.from(bytesOf(s)).toString('base64'),
  }),
  scalar({
    name: 'from_base64',
    summary: 'The blob that a text in base64 stands for.',
    parameters: [TEXT],
    examples: [["CAST(from_base64('YWJj') AS string)", '"abc"']],
    result: atomType('blob'),
    evaluate: (s = null) => {
      const text = requireText(s);
      if (/^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0) {
        return new Uint8Array(Buffer.from(text, 'base64'));
      }
      throw failure('SQL_EXECUTION', 'from_base64: the text is no base64');
    },
  }),
  scalar({
    name: 'hex',
    aliases: ['to_hex'],
    summary: 'An integer, or the bytes of a blob or text, in hexadecimal.',
    parameters: [parameter('x', 'an integer, a text or a blob')],
    examples: [
      ["hex('abc')", '"616263"'],
      ['hex(255)', '"FF"'],
    ],
    result: STRING_TYPE,
    evaluate: (x = null) => {
      if (typeof x === 'number' && Number.isInteger(x)) {
        return (x < 0 ? BigInt.asUintN(64, BigInt(x)) : BigInt(x)).toString(16).toUpperCase();
      }
      if (typeof x === 'bigint') return BigInt.asUintN(64, x).toString(16).toUpperCase();
      return Buffer.from(bytesOf(x)).toString('hex').toUpperCase();
    },
  }),
  scalar({
    name: 'unhex',
    aliases: ['from_hex'],
    summary: 'The blob that a text in hexadecimal stands for.',
    parameters: [TEXT],
    examples: [["CAST(unhex('616263') AS string)", '"abc"']],
    result: atomType('blob'),
    evaluate: (s = null) => {
      const text = requireText(s);
      if (/^([0-9A-Fa-f]{2})*$/.test(text)) return new Uint8Array(Buffer.from(text, 'hex'));
      throw failure('SQL_EXECUTION', 'unhex: expected pairs of hexadecimal digits');
    },
  }),
  textMap(
    'strip_accents',
    'The text with letters instead of letters with accents.',
    ["strip_accents('éàü')", '"eau"'],
    (text) =>
      text
        .normalize('NFD')
        .replace(/\p{Mn}/gu, '')
        .normalize('NFC'),
  ),
  textMap(
    'char_length',
    'The number of characters, code points.',
    ["char_length('héé')", '3'],
    codePointCount,
    INTEGER_TYPE,
  ),
  scalar({
    name: 'octet_length',
    summary: 'The number of bytes of a blob, or of a text in UTF-8.',
    parameters: [parameter('s', 'a text or a blob')],
    examples: [["octet_length('héé')", '5']],
    result: INTEGER_TYPE,
    evaluate: (s = null) => bytesOf(s).length,
  }),
  family('string').scalar({
    name: 'jaro_winkler_similarity',
    summary: 'How alike two texts are, from 0 to 1, with more weight on how they begin.',
    parameters: [parameter('a', 'a text'), parameter('b', 'a text')],
    examples: [["jaro_winkler_similarity('martha', 'marhta')", '0.9611111111111111']],
    result: NUMBER_TYPE,
    evaluate: (a = null, b = null) =>
      numberAtom(jaroWinkler([...requireText(a)], [...requireText(b)])),
  }),
];

/** @see W. E. Winkler, "String comparator metrics and enhanced decision rules", 1990 */
function jaroWinkler(a: readonly string[], b: readonly string[]): number {
  if (a.length === 0 && b.length === 0) return 1;
  const reach = Math.max(0, Math.floor(Math.max(a.length, b.length) / 2) - 1);
  const taken = new Array<boolean>(b.length).fill(false);
  const matched: string[] = [];
  a.forEach((character, index) => {
    const end = Math.min(b.length, index + reach + 1);
    for (let j = Math.max(0, index - reach); j < end; j++) {
      if (taken[j] === true || b[j] !== character) continue;
      taken[j] = true;
      matched.push(character);
      return;
    }
  });
  const count = matched.length;
  if (count === 0) return 0;
  const others = b.filter((_, index) => taken[index]);
  const swaps = matched.filter((character, index) => character !== others[index]).length / 2;
  const jaro = (count / a.length + count / b.length + (count - swaps) / count) / 3;
  let prefix = 0;
  while (prefix < 4 && prefix < a.length && a[prefix] === b[prefix]) prefix++;
  return jaro > 0.7 ? jaro + prefix * 0.1 * (1 - jaro) : jaro;
}
