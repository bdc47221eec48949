// Values put into texts: the places of printf and of format.
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import { requireDouble, requireInteger } from '../conversion.ts';

/** Widest place, and most digits after the point. */
const WIDTH_MAX = 1000;
const PRECISION_MAX = 100;

interface Place {
  readonly flags: string;
  readonly width: number;
  readonly precision: number | undefined;
  readonly letter: string;
}

/** @throws SQL_EXECUTION for an unknown letter, and for places without an argument */
export function formatPercent(format: string, args: readonly Atom[]): string {
  let next = 0;
  return format.replace(
    /%([-+ 0#]*)(\d*)(?:\.(\d+))?(.?)/gsu,
    (place, flags: string, width: string, precision: string | undefined, letter: string) => {
      if (letter === '%') return '%';
      if (!/^[diuoxXeEfFgGsc]$/.test(letter)) throw unknownLetter(place);
      if (next >= args.length) throw missingArgument(place, args.length);
      return fillPlace(args[next++] as Atom, {
        flags,
        width: Number(width),
        precision: precision === undefined ? undefined : Number(precision),
        letter,
      });
    },
  );
}

export function formatBraces(format: string, args: readonly Atom[]): string {
  let next = 0;
  return format.replace(
    /\{\{|\}\}|\{(\d*)(?::([<>^]?)(0?)(\d*)(?:\.(\d+))?([a-zA-Z]?))?\}/g,
    (
      place,
      number: string = '',
      align: string = '',
      zero: string = '',
      width: string = '',
      precision?: string,
      letter: string = '',
    ) => {
      if (place === '{{' || place === '}}') return place[0] as string;
      const index = number === '' ? next++ : Number(number);
      if (index >= args.length) throw missingArgument(place, args.length);
      const atom = args[index] as Atom;
      const kind = letter || (precision !== undefined ? 'f' : 's');
      if (!/^[dxXeEfFgGsc]$/.test(kind)) throw unknownLetter(place);
      const isText = kind === 's' && typeof atom === 'string';
      const left = align === '<' || (align === '' && isText) ? '-' : '';
      return fillPlace(atom, {
        flags: left + zero,
        width: Number(width),
        precision: precision === undefined ? undefined : Number(precision),
        letter: kind,
      });
    },
  );
}

function unknownLetter(place: string): Error {
  return failure(
    'SQL_EXECUTION',
    `unknown place '${place}' in a format; accepted letters are d i u o x e f g s c`,
  );
}

function missingArgument(place: string, count: number): Error {
  return failure('SQL_EXECUTION', `no argument for '${place}' in a format: there are ${count}`);
}

function fillPlace(atom: Atom, place: Place): string {
  const { flags, width, precision, letter } = place;
  if (width > WIDTH_MAX || (precision ?? 0) > PRECISION_MAX) {
    const message = `a place of a format has at most ${WIDTH_MAX} characters and ${PRECISION_MAX} digits`;
    throw failure('SQL_EXECUTION', message);
  }
  let text = digitsOf(atom, letter, precision);
  const isNumber = letter !== 's' && letter !== 'c';
  if (isNumber && !text.startsWith('-')) {
    if (flags.includes('+')) text = `+${text}`;
    else if (flags.includes(' ')) text = ` ${text}`;
  }
  if (flags.includes('-')) return text.padEnd(width);
  if (!flags.includes('0') || !isNumber) return text.padStart(width);
  const sign = /^[-+ ]/.exec(text)?.[0] ?? '';
  return sign + text.slice(sign.length).padStart(width - sign.length, '0');
}

function digitsOf(atom: Atom, letter: string, precision: number | undefined): string {
  switch (letter) {
    case 'd':
    case 'i':
    case 'u':
      return String(requireInteger(atom));
    case 'o':
      return BigInt(requireInteger(atom)).toString(8);
    case 'x':
      return BigInt(requireInteger(atom)).toString(16);
    case 'X':
      return BigInt(requireInteger(atom)).toString(16).toUpperCase();
    case 'f':
    case 'F':
      return requireDouble(atom).toFixed(precision ?? 6);
    case 'e':
    case 'E': {
      const text = requireDouble(atom)
        .toExponential(precision ?? 6)
        .replace(/e([+-])(\d)$/, 'e$10$2');
      return letter === 'E' ? text.toUpperCase() : text;
    }
    case 'g':
    case 'G':
      return String(Number(requireDouble(atom).toPrecision(precision || 6)));
    case 'c':
      return [...atomText(atom as Exclude<Atom, null>)][0] ?? '';
    default: {
      const text = atom === null ? 'NULL' : atomText(atom);
      return precision === undefined ? text : [...text].slice(0, precision).join('');
    }
  }
}
