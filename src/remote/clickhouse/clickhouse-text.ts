// Names, texts and numbers as SQL of ClickHouse.
import type { ClickhouseQuery } from './clickhouse-request.ts';

/** A name in backticks. */
export function quoteName(name: string): string {
  return `\`${escaped(name).replaceAll('`', '\\`')}\``;
}

/** A text as a literal. */
export function quoteText(text: string): string {
  return `'${escaped(text).replaceAll("'", "\\'")}'`;
}

/** A value of the format TabSeparated, which has `\N` for NULL. */
export function escapeField(text: string): string {
  return escaped(text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
};

function escaped(text: string): string {
  return text.replace(/[\\\0\b\f\n\r\t]/g, (character) => ESCAPES[character] as string);
}

/** A double as a literal; undefined for those that old servers cannot read. */
export function numberLiteral(value: number): string | undefined {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  // The parser of old servers refuses numbers that are not normal.
  if (value !== 0 && Math.abs(value) < 2 ** -1022) return undefined;
  return String(value === 0 ? 0 : value);
}

/** Texts by their places: `{p0:String}`. */
export class QueryTexts {
  readonly #texts: string[];

  constructor(texts: readonly string[] = []) {
    this.#texts = [...texts];
  }

  add(text: string): string {
    const known = this.#texts.indexOf(text);
    const index = known === -1 ? this.#texts.push(text) - 1 : known;
    return `{p${index}:String}`;
  }

  get all(): readonly string[] {
    return this.#texts;
  }
}

const PLACE = /'(?:[^'\\]|\\[\s\S])*'|`(?:[^`\\]|\\[\s\S])*`|\{p(\d+):String\}/g;

/** The query with its texts as literals: for servers without parameters, and for people. */
export function withLiterals({ sql, texts }: ClickhouseQuery): string {
  return sql.replace(PLACE, (all, index: string | undefined) =>
    index === undefined ? all : quoteText(texts[Number(index)] as string),
  );
}

/** SQL whose places stand for `texts`, with places for them in others. */
export function withMovedTexts(sql: string, texts: readonly string[], into: QueryTexts): string {
  return sql.replace(PLACE, (all, index: string | undefined) =>
    index === undefined ? all : into.add(texts[Number(index)] as string),
  );
}
