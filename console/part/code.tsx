// Text of programs with its words in colour, without the editor.

const COMMON = String.raw`("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|\b(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b`;
const WORDS: Readonly<Record<string, string>> = {
  sql: 'SELECT|FROM|WHERE|WHEN|GROUP BY|GROUP|ORDER BY|ORDER|BY|HAVING|LIMIT|OFFSET|NAMED|JOIN|LEFT|RIGHT|INNER|OUTER|FULL|ON|AS|AND|OR|NOT|IN|IS|NULL|LIKE|BETWEEN|CASE|THEN|ELSE|END|DISTINCT|ASC|DESC|EXPLAIN|CAST|EXCLUDING|COLUMN|EXPR|UNION|ALL|WITH|TRUE|FALSE',
  typescript: 'import|from|const|await|console|new|process|export',
  python: 'import|with|as|print|True|False|None',
  curl: 'curl',
  json: 'true|false|null',
};

export function Code({ text, language }: { readonly text: string; readonly language: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines are scrolled by keyboard too
    <pre class="code" tabIndex={0} aria-label={`${language} code`} role="group">
      <code>{parts(text, language)}</code>
    </pre>
  );
}

function parts(text: string, language: string) {
  const words = WORDS[language] ?? '';
  const pattern = new RegExp(
    words === '' ? COMMON : `${COMMON}|\\b(${words})\\b`,
    language === 'sql' ? 'gi' : 'g',
  );
  const found = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    found.push(text.slice(end, match.index));
    const kind = match[1] !== undefined ? 'text' : match[2] !== undefined ? 'number' : 'word';
    found.push(<span class={`code-${kind}`}>{match[0]}</span>);
    end = match.index + match[0].length;
  }
  found.push(text.slice(end));
  return found;
}
