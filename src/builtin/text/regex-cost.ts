// How long a backtracking engine may take for a pattern: at most about factor × length ^ degree
// steps from one start in a text. Counted on JavaScript source, from above: patterns that are told
// to be costly may be cheap, never the reverse.

export interface RegexCost {
  readonly factor: number;
  /** infinite: the steps may double with each character */
  readonly degree: number;
  /** some group is captured anew in each round of a loop */
  readonly hasLoopedCapture: boolean;
}

interface Part {
  readonly factor: number;
  readonly degree: number;
  readonly hasCapture: boolean;
  readonly hasLoopedCapture: boolean;
}

const FIXED: Part = { factor: 1, degree: 0, hasCapture: false, hasLoopedCapture: false };

/** @param source of a regular expression that is known to be valid */
export function regexCost(source: string): RegexCost {
  return new CostReader(source).alternatives();
}

class CostReader {
  readonly #source: string;
  #position = 0;

  constructor(source: string) {
    this.#source = source;
  }

  alternatives(): Part {
    let sum = this.#sequence();
    while (this.#source[this.#position] === '|') {
      this.#position++;
      const next = this.#sequence();
      sum = {
        ...both(sum, next),
        factor: sum.factor + next.factor,
        degree: Math.max(sum.degree, next.degree),
      };
    }
    return sum;
  }

  #sequence(): Part {
    let all = FIXED;
    for (;;) {
      const character = this.#source[this.#position];
      if (character === undefined || character === '|' || character === ')') return all;
      const part = this.#quantified(this.#item());
      all = {
        ...both(all, part),
        factor: all.factor * part.factor,
        degree: all.degree + part.degree,
      };
    }
  }

  #item(): Part {
    const character = this.#source[this.#position++];
    if (character === '\\') this.#skip(/(?:[pPu]\{[^}]*\}|k<[^>]*>|[\s\S])/y);
    else if (character === '[') this.#skip(/(?:\\[\s\S]|[^\]\\])*\]/y);
    else if (character === '(') return this.#group();
    return FIXED;
  }

  #group(): Part {
    const isCapture = this.#source[this.#position] !== '?' || this.#skip(/\?<(?![=!])[^>]*>/y);
    if (!isCapture) this.#skip(/\?(?::|<?[=!])/y);
    const inner = this.alternatives();
    this.#position++; // the parenthesis
    return { ...inner, hasCapture: inner.hasCapture || isCapture };
  }

  #quantified(part: Part): Part {
    const quantifier = this.#match(/(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y);
    if (quantifier === undefined) return part;
    const [text, least, comma, most] = quantifier;
    const hasLoopedCapture = part.hasCapture || part.hasLoopedCapture;
    const isUnbounded = /^[*+]/.test(text) || (comma === ',' && most === '');
    const isChoice = part.factor > 1 || part.degree > 0;
    if (isUnbounded) {
      const degree = isChoice ? Number.POSITIVE_INFINITY : 1;
      return { ...part, factor: 1, degree, hasLoopedCapture };
    }
    if (text.startsWith('?')) return { ...part, factor: part.factor + 1, hasLoopedCapture };
    const maximum = Number(most === '' ? least : most);
    const factor = part.factor ** maximum * (maximum - Number(least) + 1);
    return { ...part, factor, degree: part.degree * maximum, hasLoopedCapture };
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#source);
    if (match === null) return undefined;
    this.#position = pattern.lastIndex;
    return match;
  }

  #skip(pattern: RegExp): boolean {
    return this.#match(pattern) !== undefined;
  }
}

function both(a: Part, b: Part): Pick<Part, 'hasCapture' | 'hasLoopedCapture'> {
  return {
    hasCapture: a.hasCapture || b.hasCapture,
    hasLoopedCapture: a.hasLoopedCapture || b.hasLoopedCapture,
  };
}
