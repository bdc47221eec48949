// Texts that are no query: statements for looking around, and those that write, which are refused.
import { type SqlSource, wholeText } from '../error.ts';
import type { QueryNode } from '../node.ts';
import type { Cursor } from './cursor.ts';

/** A text of the query route. The `query` of each is read from its source by `parseQueryOf`. */
export type Statement =
  | { readonly kind: 'query'; readonly source: SqlSource }
  | { readonly kind: 'explain'; readonly analyze: boolean; readonly source: SqlSource }
  | { readonly kind: 'show-tables' }
  | { readonly kind: 'show-functions'; readonly pattern: string | undefined }
  | { readonly kind: 'describe' | 'summarize'; readonly source: SqlSource };

export type { QueryNode };

/**
 * Tells what kind of statement a text is by its first words. A word is only taken for a statement
 * when what follows fits; everything else is a query, whose parser says what is wrong with it.
 */
export function readStatement(text: string): Statement {
  const whole = wholeText(text);
  const rest = (length: number): SqlSource => ({ ...whole, start: length });
  const explain = /^\s*EXPLAIN\s+(ANALYZE\s+)?(?=SELECT\b|WITH\b|VALUES\b|\()/i.exec(text);
  if (explain !== null) {
    const analyze = explain[1] !== undefined;
    return { kind: 'explain', analyze, source: rest(explain[0].length) };
  }
  if (/^\s*SHOW\s+TABLES\s*;?\s*$/i.test(text)) return { kind: 'show-tables' };
  const show = /^\s*SHOW\s+FUNCTIONS(?:\s+LIKE\s+'((?:[^']|'')*)')?\s*;?\s*$/i.exec(text);
  if (show !== null) {
    return { kind: 'show-functions', pattern: show[1]?.replaceAll("''", "'") };
  }
  const look = /^\s*(DESCRIBE|DESC|SUMMARIZE)\s+/i.exec(text);
  if (look !== null) {
    const kind = (look[1] as string).toUpperCase() === 'SUMMARIZE' ? 'summarize' : 'describe';
    return { kind, source: rest(look[0].length) };
  }
  return { kind: 'query', source: whole };
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
