// What is wrong with the statements of a text, and where. The service explains each one without
// running it; columns that no dataset has, which are NULL in every row, are found here.
import type { RowanError } from 'rowan-db/client';
import { call, messageOf } from '../../state/api.ts';
import {
  datasetsOf,
  nearestName,
  pathElements,
  quoteName,
  statementsOf,
  tokensOf,
  unquote,
} from '../sql/text.ts';
import { columnsOf, loadLanguage } from './language.ts';

export interface Diagnosis {
  readonly from: number;
  readonly to: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  /** what the user may have meant, to stand in its place */
  readonly fix: string | undefined;
}

const STATEMENT_COUNT_MAX = 20;

export async function diagnose(sql: string): Promise<Diagnosis[]> {
  const statements = statementsOf(sql).slice(0, STATEMENT_COUNT_MAX);
  const found = await Promise.all(
    statements.map(async ({ text, from }) => {
      const own = await diagnoseStatement(text);
      return own.map((diagnosis) => ({
        ...diagnosis,
        from: diagnosis.from + from,
        to: diagnosis.to + from,
      }));
    }),
  );
  return found.flat();
}

async function diagnoseStatement(text: string): Promise<Diagnosis[]> {
  const isQuery = /^\s*(select|explain)\b/i.test(text);
  const q = /^\s*explain\b/i.test(text) ? text : `EXPLAIN ${text}`;
  if (isQuery) {
    try {
      await call('POST', '/v1/query', { isSilent: true, body: { q, format: 'aos' } });
    } catch (thrown) {
      return [await errorOf(text, thrown as RowanError)];
    }
  }
  return unknownColumns(text);
}

async function errorOf(text: string, error: RowanError): Promise<Diagnosis> {
  const message = messageOf(error);
  const { details } = error;
  const {
    line = 1,
    column = 1,
    near,
  } = (details ?? {}) as {
    line?: number;
    column?: number;
    near?: string;
  };
  const from = Math.min(positionOf(text, line, column), Math.max(0, text.length - 1));
  const token = tokensOf(text).find((each) => each.to > from);
  const to = Math.max(from + 1, token?.to ?? from + 1);
  const meant = /did you mean ['"`]?([^'"`?]+)['"`]?\?/i.exec(message)?.[1];
  return {
    from,
    to,
    severity: 'error',
    message,
    fix: meant ?? (await suggestion(text, unquote(token?.text ?? near ?? ''), message)),
  };
}

/** The nearest function or dataset, when the message is about one that is unknown. */
async function suggestion(
  text: string,
  word: string,
  message: string,
): Promise<string | undefined> {
  if (/function/i.test(message)) {
    const { functions } = await loadLanguage();
    return nearestName(
      word,
      functions.map(({ name }) => name),
    );
  }
  if (!/dataset/i.test(message)) return undefined;
  const datasets = await call<string[]>('GET', '/v1/datasets', { isSilent: true });
  const wrong = datasetsOf(text).find((name) => !datasets.includes(name));
  const near = wrong === undefined ? undefined : nearestName(wrong, datasets);
  return near === undefined ? undefined : quoteName(near);
}

/** Lines and columns count from 1. */
export function positionOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let count = 1; count < line; count++) {
    const end = text.indexOf('\n', start);
    if (end === -1) break;
    start = end + 1;
  }
  return start + column - 1;
}

/** Only names that are nearly those of a column: what else they could be, only the service knows. */
async function unknownColumns(text: string): Promise<Diagnosis[]> {
  const datasets = datasetsOf(text);
  if (datasets.length === 0) return [];
  const columns = (await Promise.all(datasets.map(columnsOf))).flat();
  if (columns.length === 0) return [];
  const known = new Set(columns.flatMap(pathElements));
  const { keywords, functions } = await loadLanguage();
  const words = new Set(
    [...keywords, ...functions.flatMap(({ name, aliases = [] }) => [name, ...aliases])].map(
      (word) => word.toLowerCase(),
    ),
  );
  const tokens = tokensOf(text);
  const own = new Set(datasets);
  tokens.forEach((token, index) => {
    const isNamed =
      /^(as|named)$/i.test(tokens[index - 1]?.text ?? '') || tokens[index + 1]?.text === ':';
    if (isNamed) own.add(unquote(token.text));
  });
  return tokens.flatMap((token, index): Diagnosis[] => {
    if (token.kind !== 'word' && token.kind !== 'name') return [];
    const name = unquote(token.text);
    const isColumn =
      !known.has(name) &&
      !own.has(name) &&
      (token.kind === 'name' || !words.has(name.toLowerCase())) &&
      tokens[index + 1]?.text !== '(' &&
      tokens[index - 1]?.text !== '.' &&
      tokens[index + 1]?.text !== '.';
    const near = isColumn ? nearestName(name, known) : undefined;
    if (near === undefined) return [];
    const message = `no dataset of this statement has a column ${name}, so it is NULL; did you mean ${near}?`;
    return [{ from: token.from, to: token.to, severity: 'warning', message, fix: quoteName(near) }];
  });
}
