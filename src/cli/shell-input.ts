// What is typed into the shell: statements that may take several lines, and words to complete.
import { CLAUSES, KEYWORDS } from '../sql/keyword.ts';

export interface SplitInput {
  /** texts that a semicolon ended, without it */
  readonly statements: readonly string[];
  /** what is not ended yet */
  readonly rest: string;
}

/** Texts and comments, in which a semicolon ends nothing, and the semicolon; the first two may be open. */
const PARTS = /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g;

/** Cuts a text behind the semicolons of its statements. */
export function splitStatements(text: string): SplitInput {
  const statements: string[] = [];
  let start = 0;
  for (const { 0: part, index } of text.matchAll(PARTS)) {
    if (part !== ';') continue;
    const statement = text.slice(start, index).trim();
    if (statement !== '') statements.push(statement);
    start = index + 1;
  }
  return { statements, rest: text.slice(start).trimStart() };
}

const COMMANDS = ['\\?', '\\d', '\\df', '\\format', '\\q', '\\timing', '\\x'];
const STATEMENTS = [
  'DESCRIBE',
  'EXPLAIN',
  'EXPLAIN ANALYZE',
  'SHOW FUNCTIONS',
  'SHOW TABLES',
  'SUMMARIZE',
];

/** What may stand in place of the last word of a line: commands, or SQL and the names that there are. */
export function completions(
  line: string,
  names: readonly string[],
): readonly [found: string[], word: string] {
  const word = /[^\s(),;=<>+*/]*$/.exec(line)?.[0] ?? '';
  if (word.startsWith('\\')) return [COMMANDS.filter((command) => command.startsWith(word)), word];
  const lower = word.toLowerCase();
  const isUpper = word !== lower;
  const sql = [...new Set([...STATEMENTS, ...CLAUSES, ...KEYWORDS])]
    .filter((keyword) => keyword.toLowerCase().startsWith(lower))
    .map((keyword) => (isUpper || word === '' ? keyword : keyword.toLowerCase()));
  const found = names.filter((name) => name.toLowerCase().startsWith(lower));
  return [[...found, ...sql], word];
}
