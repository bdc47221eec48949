// Perl-style regular expressions as JavaScript ones.
//
// The dialect: classes \d \w \s are ASCII, `.` is anything but a line feed, ^ and $ are the ends of
// the text (of lines with (?m)), escaped punctuation stands for itself, flags come first.

/** JavaScript source for the `u` flag, and whether letters of any case match. */
export interface TranslatedRegex {
  readonly source: string;
  readonly ignoreCase: boolean;
}

/** @throws SyntaxError with the reason when a flag, escape or class is not known */
export function translateRegex(pattern: string): TranslatedRegex {
  return new Translator(pattern).translate();
}

/** Members of ASCII classes, as they stand inside brackets. */
const POSIX_CLASSES: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  ascii: '\\x00-\\x7f',
  blank: ' \\t',
  cntrl: '\\x00-\\x1f\\x7f',
  digit: '0-9',
  graph: '\\x21-\\x7e',
  lower: 'a-z',
  print: '\\x20-\\x7e',
  punct: '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e',
  space: ' \\t\\n\\v\\f\\r',
  upper: 'A-Z',
  word: 'a-zA-Z0-9_',
  xdigit: '0-9a-fA-F',
};

/** The same classes and their complements as members of brackets. */
const CLASS_ESCAPES: Readonly<Record<string, string>> = {
  d: '0-9',
  w: 'a-zA-Z0-9_',
  s: ' \\t\\n\\v\\f\\r',
  D: '\\x00-/:-\\u{10ffff}',
  W: '\\x00-/:-@\\[-\\^`\\{-\\u{10ffff}',
  S: '\\x00-\\x08\\x0e-\\x1f!-\\u{10ffff}',
};

const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  a: '\\x07',
  e: '\\x1b',
  f: '\\f',
  n: '\\n',
  r: '\\r',
  t: '\\t',
  v: '\\v',
};

const SYNTAX_CHARACTER = /[\^$\\.*+?()[\]{}|/]/;

class Translator {
  readonly #pattern: string;
  #position = 0;
  #ignoreCase = false;
  #dotAll = false;
  #multiline = false;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  translate(): TranslatedRegex {
    this.#readFlags();
    let source = '';
    while (this.#position < this.#pattern.length) source += this.#next();
    return { source, ignoreCase: this.#ignoreCase };
  }

  #readFlags(): void {
    for (;;) {
      const match = /^\(\?([a-zA-Z]+)\)/.exec(this.#rest());
      if (match === null) return;
      this.#position += match[0].length;
      for (const flag of match[1] as string) this.#setFlag(flag);
    }
  }

  #setFlag(flag: string): void {
    if (flag === 'i') this.#ignoreCase = true;
    else if (flag === 's') this.#dotAll = true;
    else if (flag === 'm') this.#multiline = true;
    else throw new SyntaxError(`unknown flag '${flag}'; accepted are i, s and m`);
  }

  #rest(): string {
    return this.#pattern.slice(this.#position);
  }

  #take(): string {
    const character = String.fromCodePoint(this.#pattern.codePointAt(this.#position) as number);
    this.#position += character.length;
    return character;
  }

  #next(): string {
    const character = this.#take();
    switch (character) {
      case '\\':
        return this.#escape(false);
      case '[':
        return this.#bracket();
      case '.':
        return this.#dotAll ? '[^]' : '[^\\n]';
      case '^':
        return this.#multiline ? '(?<=^|\\n)' : '^';
      case '$':
        return this.#multiline ? '(?=\\n|$)' : '$';
      case '{':
        return this.#brace();
      case '}':
      case ']':
      case '/':
        return `\\${character}`;
      case '(':
        return this.#group();
      default:
        return character;
    }
  }

  /** A quantifier, or a brace that stands for itself. */
  #brace(): string {
    const match = /^\d+(?:,\d*)?\}/.exec(this.#rest());
    if (match === null) return '\\{';
    this.#position += match[0].length;
    return `{${match[0]}`;
  }

  #group(): string {
    if (!this.#rest().startsWith('?P<')) return '(';
    this.#position += 3;
    return '(?<';
  }

  #escape(inBracket: boolean): string {
    if (this.#position >= this.#pattern.length) {
      throw new SyntaxError('\\ at the end of the pattern');
    }
    const character = this.#take();
    if (/[\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e ]/.test(character)) {
      return escapeLiteral(character, inBracket);
    }
    if (Object.hasOwn(CONTROL_ESCAPES, character)) return CONTROL_ESCAPES[character] as string;
    if (Object.hasOwn(CLASS_ESCAPES, character)) {
      const members = CLASS_ESCAPES[character] as string;
      return inBracket ? members : `[${members}]`;
    }
    switch (character) {
      case 'x':
        return this.#hexadecimal();
      case 'p':
      case 'P':
        return this.#property(character);
      case 'b':
        return inBracket ? '\\x08' : '\\b';
    }
    return inBracket ? this.#unknownEscape(character) : this.#assertion(character);
  }

  #assertion(character: string): string {
    switch (character) {
      case 'B':
        return '\\B';
      case 'A':
        return '^';
      case 'z':
        return '$';
      case 'Z':
        return '(?=\\n?$)';
      case 'k':
        return '\\k';
      case '0':
        return '\\x00';
    }
    // Followed by a digit, a back reference would swallow it.
    if (/[1-9]/.test(character)) return `(?:\\${character})`;
    return this.#unknownEscape(character);
  }

  #unknownEscape(character: string): string {
    if (character === '0') return '\\x00';
    throw new SyntaxError(`unknown escape \\${character}`);
  }

  #hexadecimal(): string {
    const match = /^(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2}))/.exec(this.#rest());
    if (match === null) throw new SyntaxError('\\x needs two hexadecimal digits or braces');
    this.#position += match[0].length;
    return match[1] === undefined ? `\\x${match[2]}` : `\\u{${match[1]}}`;
  }

  /** `\p{L}`, `\pL`, `\p{Greek}` */
  #property(letter: string): string {
    const match = /^(?:\{(\^?)([\w= ]+)\}|([A-Z]))/.exec(this.#rest());
    if (match === null) throw new SyntaxError(`\\${letter} needs the name of a property`);
    this.#position += match[0].length;
    const name = match[2] ?? (match[3] as string);
    const negated = (letter === 'P') !== (match[1] === '^');
    return `\\${negated ? 'P' : 'p'}{${isPropertyName(name) ? name : `Script=${name}`}}`;
  }

  #bracket(): string {
    let out = '[';
    if (this.#rest().startsWith('^')) {
      this.#position++;
      out += '^';
    }
    let isFirst = true;
    let afterClass = false;
    for (;;) {
      if (this.#position >= this.#pattern.length) throw new SyntaxError('unterminated [');
      const before = this.#position;
      const character = this.#take();
      if (character === ']' && !isFirst) return `${out}]`;
      isFirst = false;
      if (character === '[') {
        const posix = this.#posixClass();
        out += posix ?? '\\[';
        afterClass = posix !== undefined;
      } else if (character === '\\') {
        out += this.#escape(true);
        const escaped = this.#pattern[before + 1] as string;
        afterClass = Object.hasOwn(CLASS_ESCAPES, escaped) || /[pP]/.test(escaped);
      } else if (character === '-') {
        out += afterClass || this.#isBeforeClass() ? '\\-' : '-';
        afterClass = false;
      } else {
        out += escapeLiteral(character, true);
        afterClass = false;
      }
    }
  }

  /** A class is no end of a range: the hyphen beside it stands for itself. */
  #isBeforeClass(): boolean {
    return /^(?:\\[dwsDWSpP]|\[:)/.test(this.#rest());
  }

  /** What follows the bracket of `[:alpha:]`; undefined when it is just a bracket. */
  #posixClass(): string | undefined {
    const match = /^:(\^?)([a-z]+):\]/.exec(this.#rest());
    if (match === null) return undefined;
    const name = match[2] as string;
    const members = Object.hasOwn(POSIX_CLASSES, name) ? POSIX_CLASSES[name] : undefined;
    if (members === undefined) throw new SyntaxError(`unknown class [:${name}:]`);
    if (match[1] === '^') throw new SyntaxError(`negated class [:^${name}:] is not supported`);
    this.#position += match[0].length;
    return members;
  }
}

function escapeLiteral(character: string, inBracket: boolean): string {
  if (inBracket && character === '-') return '\\-';
  return SYNTAX_CHARACTER.test(character) ? `\\${character}` : character;
}

function isPropertyName(name: string): boolean {
  try {
    new RegExp(`\\p{${name}}`, 'u');
    return true;
  } catch {
    return false;
  }
}
