// Regular expressions whose time is bounded. The engine of JavaScript is fast, and for some patterns
// takes time that grows without bound with the text; where it might, a linear-time engine does the
// work. Patterns that only the first one knows (looking around, references back to groups) stay
// with it, on threads that can be ended.
import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { unstoppable } from '../../util/unstoppable.ts';
import { type RegexCost, regexCost } from './regex-cost.ts';

/** Steps of the backtracking engine that one call may take: about a tenth of a second. */
const STEP_COUNT_MAX = 2 ** 25;
/** Where the steps may double with each character. */
const EXPONENTIAL_LENGTH_MAX = 20;

/** @param groups the whole match first; undefined for groups that took no part */
export type ReplaceMatch = (groups: readonly (string | undefined)[]) => string;

export class SafeRegex {
  readonly #regex: RegExp;
  readonly #cost: RegexCost;
  readonly #startsAnywhere: boolean;
  /** null: only the backtracking engine knows the pattern */
  #linear: RE2JS | null | undefined;

  /** @param regex with the flag u; with ^ at its start it begins nowhere else */
  constructor(regex: RegExp, { startsAnywhere }: { readonly startsAnywhere: boolean }) {
    this.#regex = regex;
    this.#startsAnywhere = startsAnywhere;
    this.#cost = regexCost(regex.source);
  }

  test(text: string): boolean {
    if (this.#isShort(text)) return this.#testBacktracking(text);
    const linear = this.#linearEngine();
    if (linear === null) return unstoppable(() => this.#testBacktracking(text));
    return linear.matcher(text).find();
  }

  /** @param usesGroups false: `replace` looks at nothing but the whole match */
  replaceAll(text: string, replace: ReplaceMatch, usesGroups: boolean): string {
    if (this.#isShort(text)) return this.#replaceBacktracking(text, replace);
    // The engines differ in what a group holds that is captured again and again.
    const mayDiffer = usesGroups && this.#cost.hasLoopedCapture;
    const linear = mayDiffer ? null : this.#linearEngine();
    if (linear === null) return unstoppable(() => this.#replaceBacktracking(text, replace));
    return replaceLinear(linear, text, replace);
  }

  #testBacktracking(text: string): boolean {
    this.#regex.lastIndex = 0;
    return this.#regex.test(text);
  }

  #replaceBacktracking(text: string, replace: ReplaceMatch): string {
    return text.replace(this.#regex, (...details: unknown[]) => {
      // What follows the groups: the position, the text, and perhaps an object of named groups.
      const end = details.findIndex((detail) => typeof detail === 'number');
      return replace(details.slice(0, end) as (string | undefined)[]);
    });
  }

  /** Whether the backtracking engine cannot take long for this text. */
  #isShort(text: string): boolean {
    const { factor, degree } = this.#cost;
    return degree === Number.POSITIVE_INFINITY
      ? text.length <= EXPONENTIAL_LENGTH_MAX
      : factor * text.length ** (degree + Number(this.#startsAnywhere)) <= STEP_COUNT_MAX;
  }

  #linearEngine(): RE2JS | null {
    if (this.#linear === undefined) this.#linear = compileLinear(this.#regex);
    return this.#linear;
  }
}

const require = createRequire(import.meta.url);

/** @returns null for what the engine does not know */
function compileLinear({ source, ignoreCase }: RegExp): RE2JS | null {
  const { RE2JS } = require('re2js') as typeof import('re2js');
  try {
    return RE2JS.compile(linearSource(source), ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return null;
  }
}

/** The same pattern as the linear-time engine spells it. */
function linearSource(source: string): string {
  return source
    .replaceAll('(?<=^|\\n)', '(?m:^)')
    .replaceAll('(?=\\n|$)', '(?m:$)')
    .replace(/\\(?:u\{([0-9a-fA-F]+)\}|([pP])\{Script=|[\s\S])|\[\^\]/g, (text, code, property) => {
      if (text === '[^]') return '(?s:.)';
      if (code !== undefined) return `\\x{${code}}`;
      return property === undefined ? text : `\\${property}{`;
    });
}

function replaceLinear(linear: RE2JS, text: string, replace: ReplaceMatch): string {
  const matcher = linear.matcher(text);
  const groupCount = matcher.groupCount();
  let out = '';
  let end = 0;
  while (matcher.find()) {
    const groups = Array.from({ length: groupCount + 1 }, (_, i) => matcher.group(i) ?? undefined);
    out += text.slice(end, matcher.start()) + replace(groups);
    end = matcher.end();
  }
  return out + text.slice(end);
}
