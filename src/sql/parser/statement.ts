// Texts that are no query: statements for looking around, and those that write, which are refused.
import { wholeText } from '../error.ts';
import { Lexer, type Token } from '../lexer.ts';
import type { Cursor } from './cursor.ts';

/**
 * A text of the query route. The `text` of a statement about another text is that text at the place
 * where it stands, behind blanks, so that positions in messages are those of the whole.
 */
export type Statement =
  | { readonly kind: 'query'; readonly text: string }
  | { readonly kind: 'explain'; readonly analyze: boolean; readonly text: string }
  | { readonly kind: 'show-tables' }
  | { readonly kind: 'show-functions'; readonly pattern: string | undefined }
  | { readonly kind: 'describe' | 'summarize'; readonly text: string };

const QUERY_STARTS: ReadonlySet<string> = new Set(['SELECT', 'WITH', 'VALUES']);

/**
 * Tells what kind of statement a text is by its first words. A word is only taken for a statement
 * when what follows fits; everything else is a query, whose parser says what is wrong with it.
 * @throws SqlSyntaxError where the first words are no tokens
 */
export function readStatement(text: string): Statement {
  const query: Statement = { kind: 'query', text };
  const lexer = new Lexer(wholeText(text));
  const { word } = lexer.next();
  if (word === 'SHOW') return readShow(lexer) ?? query;
  if (word === 'EXPLAIN') {
    const second = lexer.next();
    const analyze = second.word === 'ANALYZE';
    const start = analyze ? lexer.next() : second;
    if (!QUERY_STARTS.has(start.word) && start.symbol !== '(') return query;
    return { kind: 'explain', analyze, text: from(text, start.start) };
  }
  if (word === 'DESCRIBE' || word === 'DESC' || word === 'SUMMARIZE') {
    const start = lexer.next();
    if (start.kind === 'end') return query;
    const kind = word === 'SUMMARIZE' ? 'summarize' : 'describe';
    return { kind, text: from(text, start.start) };
  }
  return query;
}

function readShow(lexer: Lexer): Statement | undefined {
  const { word } = lexer.next();
  if (word === 'TABLES') return endsAt(lexer, lexer.next()) ? { kind: 'show-tables' } : undefined;
  if (word !== 'FUNCTIONS') return undefined;
  const next = lexer.next();
  if (next.word !== 'LIKE') {
    return endsAt(lexer, next) ? { kind: 'show-functions', pattern: undefined } : undefined;
  }
  const pattern = lexer.next();
  if (pattern.kind !== 'string' || !endsAt(lexer, lexer.next())) return undefined;
  return { kind: 'show-functions', pattern: String(pattern.value) };
}

function endsAt(lexer: Lexer, token: Token): boolean {
  return token.kind === 'end' || (token.symbol === ';' && lexer.next().kind === 'end');
}

/** The text from an offset on, with blanks before it in place of what is cut. */
function from(text: string, offset: number): string {
  return text.slice(0, offset).replace(/[^\n]/g, ' ') + text.slice(offset);
}

/** What to use instead of each statement that writes. */
const WRITING_STATEMENTS: Readonly<Record<string, string>> = {
  CREATE:
    'run the procedure transform: POST /v1/procedures {"type": "transform", "params": {"inputData": "SELECT …", "outputDataset": {"id": "x", "type": "tabular"}, "runOnCreation": true}}',
  INSERT:
    'record rows by POST /v1/datasets/<id>/multirows [["rowName", [["column", "value", 0]]]], then POST /v1/datasets/<id>/commit',
  UPDATE:
    'datasets are not changed in place: run the procedure transform: POST /v1/procedures {"type": "transform", "params": {"inputData": "SELECT …", "outputDataset": "<id>", "runOnCreation": true}}',
  DELETE:
    'run the procedure transform with the rows to keep: POST /v1/procedures {"type": "transform", "params": {"inputData": "SELECT * FROM … WHERE …", "outputDataset": "<id>", "runOnCreation": true}}; a whole dataset goes by DELETE /v1/datasets/<id>',
  DROP: 'delete the dataset: DELETE /v1/datasets/<id>',
  ALTER:
    'run the procedure transform: POST /v1/procedures {"type": "transform", "params": {"inputData": "SELECT …", "outputDataset": "<id>", "runOnCreation": true}}',
  TRUNCATE: 'delete the dataset: DELETE /v1/datasets/<id>',
  COPY: 'run the procedure export.csv: POST /v1/procedures {"type": "export.csv", "params": {"exportData": "SELECT …", "dataFileUrl": "file://…", "runOnCreation": true}}; to read a file: import.text',
  MERGE:
    'run the procedure transform: POST /v1/procedures {"type": "transform", "params": {"inputData": "SELECT …", "outputDataset": "<id>", "runOnCreation": true}}',
};

/** Refuses a statement that writes, with the procedure or route to use. */
export function refuseWritingStatement(cursor: Cursor): void {
  const { word } = cursor.token;
  const instead = Object.hasOwn(WRITING_STATEMENTS, word) ? WRITING_STATEMENTS[word] : undefined;
  if (instead === undefined || cursor.peek(1).kind === 'end') return;
  cursor.failWith({
    message: `${word} is no query: queries only read; ${instead}`,
    expected: ['SELECT'],
  });
}
