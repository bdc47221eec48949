// What is wrong with the statements of a text, and where, as the service says: it explains each one
// without running it.
import { RowanError } from 'rowan-db/client';
import { messageOf, silent } from '../../state/api.ts';
import { type QueryWarning, warningsOf } from '../../worker/protocol.ts';
import {
  nearestName,
  quoteName,
  statementsOf,
  type Token,
  tokensOf,
  unquote,
} from '../sql/text.ts';

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

const EXPLAINED = /^(select|with|values|\()$/i;
/** They cost little, and say nothing more before they are run. */
const OTHER = /^(explain|show|describe|desc|summarize)$/i;

async function diagnoseStatement(text: string): Promise<Diagnosis[]> {
  const [first] = tokensOf(text);
  if (first === undefined || OTHER.test(first.text)) return [];
  // The word stands on a line of its own, so columns stay what they are. What begins with no word of a
  // query is refused as it is.
  const lineShift = EXPLAINED.test(first.text) ? 1 : 0;
  const q = lineShift === 1 ? `EXPLAIN\n${text}` : text;
  const reply = await silent.perform('POST', '/v1/query', { body: { q, format: 'aos' } });
  if (reply.status >= 500) return [];
  if (reply.status >= 400) {
    const error = RowanError.fromBody(reply.json as Parameters<typeof RowanError.fromBody>[0]);
    return [errorOf(text, error, lineShift)];
  }
  return warningsOf(reply.headers['x-rowan-warnings']).map((warning) =>
    diagnosisOf(text, warning, lineShift),
  );
}

function diagnosisOf(
  text: string,
  { message, line, column, suggestion }: QueryWarning,
  lineShift: number,
): Diagnosis {
  const from = positionOf(text, line - lineShift, column);
  const token = tokenAt(text, from);
  return {
    from,
    to: Math.max(from + 1, token?.to ?? 0),
    severity: 'warning',
    message: suggestion === null ? message : `${message}; did you mean ${suggestion}?`,
    fix: suggestion === null ? undefined : quoteName(suggestion),
  };
}

function errorOf(text: string, error: RowanError, lineShift: number): Diagnosis {
  const {
    line = 1 + lineShift,
    column = 1,
    entry,
  } = (error.details ?? {}) as { line?: number; column?: number; entry?: string };
  const message = withoutPlace(messageOf(error), line, column);
  const at = Math.min(positionOf(text, line - lineShift, column), Math.max(0, text.length - 1));
  const meant = /did you mean ['"`]?([^'"`?]+)['"`]?\?/i.exec(message)?.[1];
  const named = entry === undefined ? undefined : tokenNamed(text, entry);
  const misspelt = named ?? (meant === undefined ? undefined : misspeltToken(text, at, meant));
  const token = misspelt ?? tokenAt(text, at);
  const from = misspelt?.from ?? at;
  const isFixable = meant !== undefined && misspelt !== undefined;
  return {
    from,
    to: Math.max(from + 1, token?.to ?? 0),
    severity: 'error',
    message,
    fix: isFixable ? (named === undefined ? meant : quoteName(meant)) : undefined,
  };
}

/** Where a dataset stands that does not exist. */
function tokenNamed(text: string, name: string): Token | undefined {
  return tokensOf(text).find(({ text: own }) => unquote(own) === name);
}

/** A word that was taken for a name is only seen behind it: `1 FORM people` is wrong at `people`. */
function misspeltToken(text: string, at: number, meant: string | undefined): Token | undefined {
  if (meant === undefined) return undefined;
  const tokens = tokensOf(text);
  const index = tokens.findIndex(({ to }) => to > at);
  const near = index === -1 ? tokens.slice(-1) : [tokens[index], tokens[index - 1]];
  return near.find(
    (token) => token !== undefined && nearestName(unquote(token.text), [meant]) !== undefined,
  );
}

function tokenAt(text: string, at: number): Token | undefined {
  return tokensOf(text).find(({ to }) => to > at);
}

/** Failures of syntax begin with the statement and the place, which the editor shows. */
function withoutPlace(message: string, line: number, column: number): string {
  const mark = `:${line}:${column}: `;
  const at = message.indexOf(mark);
  return at === -1 ? message : message.slice(at + mark.length);
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
