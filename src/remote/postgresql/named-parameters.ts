// `$name` in SQL of PostgreSQL, which itself knows `$1`.

/** Texts, names, comments and dollar quotes, in which nothing is replaced; then a name. */
const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|\$([A-Za-z_]\w*)/g;
/** Texts with backslashes: E'it\'s'. */
const ESCAPED = /\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'/g;

/** The query with numbers for names, and the names in the order of their numbers. */
export function numberParameters(sql: string): {
  readonly sql: string;
  readonly names: readonly string[];
} {
  const names: string[] = [];
  const all = new RegExp(`${ESCAPED.source}|${TOKENS.source}`, 'g');
  const numbered = sql.replace(all, (text, _tag: string | undefined, name: string | undefined) => {
    if (name === undefined) return text;
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { sql: numbered, names };
}
