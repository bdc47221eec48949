// Conditions as SQL of PostgreSQL. Where an order or a rounding differs from Rowan's, the condition
// lets more rows pass; Rowan decides about them.
import type { Atom } from '../../value/atom.ts';
import { Timestamp } from '../../value/timestamp.ts';
import type { ComparisonSign, Condition } from '../condition.ts';
import { type PostgresqlTable, quoteIdentifier } from './postgresql-request.ts';

/** SQL with `$1` and so on for parameters, which are texts. */
export interface PostgresqlCondition {
  readonly sql: string;
  readonly parameters: readonly string[];
}

const INTEGERS: ReadonlySet<string> = new Set(['int2', 'int4', 'int8']);
const TEXTS: ReadonlySet<string> = new Set(['text', 'varchar']);
const INSTANTS: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamptz']);
/** Instants travel as microseconds there and as doubles here. */
const SLACK_SECONDS = 0.001;

export function postgresqlCondition(
  condition: Condition,
  table: Pick<PostgresqlTable, 'columns' | 'isUtf8'>,
): PostgresqlCondition | undefined {
  const parameters: string[] = [];
  const types = new Map(table.columns.map(({ name, type }) => [name, type]));
  const sql = lower(condition);
  return sql === undefined ? undefined : { sql, parameters };

  function bound(text: string, type: string): string {
    parameters.push(text);
    return `$${parameters.length}::${type}`;
  }

  function lower(part: Condition): string | undefined {
    if ('parts' in part) {
      const count = parameters.length;
      const parts = part.parts.map(lower);
      const known = parts.filter((text) => text !== undefined);
      if (known.length === 0 || (part.kind === 'or' && known.length < parts.length)) {
        parameters.length = count;
        return undefined;
      }
      return `(${known.join(part.kind === 'and' ? ' AND ' : ' OR ')})`;
    }
    const [name = ''] = part.path;
    const type = types.get(name);
    if (part.path.length !== 1 || type === undefined) return undefined;
    const column = quoteIdentifier(name);
    switch (part.kind) {
      case 'compare':
        return compare(column, type, part.sign, part.atom);
      case 'null':
        // Texts without members have no columns.
        if (/^(_|jsonb?$)/.test(type)) return undefined;
        return `${column} IS ${part.negated ? 'NOT ' : ''}NULL`;
      case 'like':
        if (!TEXTS.has(type) || part.pattern.includes('\\')) return undefined;
        return `${column} LIKE ${bound(part.pattern, 'text')}`;
    }
  }

  function compare(
    column: string,
    type: string,
    sign: ComparisonSign,
    atom: Atom,
  ): string | undefined {
    if (typeof atom === 'number' && Number.isFinite(atom)) {
      const text = String(atom);
      if (INTEGERS.has(type)) return `${column} ${sign} ${bound(text, integerType(atom))}`;
      if (type === 'bool') return `${column}::int ${sign} ${bound(text, 'float8')}`;
      if (type !== 'float8' && type !== 'numeric') return undefined;
      const value = type === 'numeric' ? `${column}::float8` : column;
      const test = `${value} ${sign} ${bound(text, 'float8')}`;
      // Not a number is the greatest number there, and the least one here.
      return sign.startsWith('<') ? `(${test} OR ${column} = 'NaN')` : test;
    }
    if (typeof atom === 'string' && TEXTS.has(type) && !atom.includes('\0')) {
      if (sign === '=') return `${column} = ${bound(atom, 'text')}`;
      return table.isUtf8 ? `${column} COLLATE "C" ${sign} ${bound(atom, 'text')}` : undefined;
    }
    if (atom instanceof Timestamp && INSTANTS.has(type))
      return compareTime(column, type, sign, atom);
    return undefined;
  }

  function compareTime(
    column: string,
    type: string,
    sign: ComparisonSign,
    { seconds }: Timestamp,
  ): string | undefined {
    if (!(Math.abs(seconds) < MAX_SECONDS)) return undefined;
    const as = type === 'timestamptz' ? 'timestamptz' : 'timestamp';
    const at = (shift: number) => bound(new Date((seconds + shift) * 1000).toISOString(), as);
    const upper = `${column} <= ${sign.startsWith('>') ? '' : at(SLACK_SECONDS)}`;
    const lowerBound = sign.startsWith('<') ? '' : `${column} >= ${at(-SLACK_SECONDS)}`;
    if (sign.startsWith('<')) return upper;
    return sign.startsWith('>') ? lowerBound : `(${upper} AND ${lowerBound})`;
  }
}

/** Years with four digits. */
const MAX_SECONDS = 6e10;

/** An index is used where both sides have types of integers. */
function integerType(atom: number): string {
  return Number.isSafeInteger(atom) ? 'bigint' : 'numeric';
}
