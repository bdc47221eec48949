// What the editor knows of the language and of the datasets that a statement names.
import { entityPath } from '../../state/api.ts';
import { load } from '../../state/catalogue.ts';
import {
  datasetsOf,
  pathElements,
  quoteName,
  statementAt,
  tokensOf,
  unquote,
} from '../sql/text.ts';

export interface FunctionInfo {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly kind: string;
  readonly family: string;
  readonly signature: string;
  readonly summary: string;
  readonly examples: readonly (readonly [expression: string, result: string])[];
}

export interface Language {
  readonly keywords: readonly string[];
  readonly functions: readonly FunctionInfo[];
  readonly types: readonly string[];
}

const COLUMN_COUNT_MAX = 2000;

export function loadLanguage(): Promise<Language> {
  return load<Language>('/v1/sql');
}

/** Printed names of the columns of a dataset; none when there is no such dataset. */
export async function columnsOf(dataset: string): Promise<readonly string[]> {
  const path = entityPath('datasets', dataset, `/columns?limit=${COLUMN_COUNT_MAX}`);
  return load<string[]>(path).catch(() => []);
}

export interface Completion {
  readonly label: string;
  readonly insert: string;
  readonly type: 'column' | 'dataset' | 'function' | 'keyword';
  readonly detail?: string;
  readonly about?: FunctionInfo;
}

/** Names that tables go by in a statement: `FROM people AS p`. */
function aliasesOf(statement: string): Map<string, string> {
  const tokens = tokensOf(statement);
  const found = new Map<string, string>();
  tokens.forEach((token, index) => {
    if (token.kind !== 'word' || !/^(from|join)$/i.test(token.text)) return;
    const dataset = tokens[index + 1];
    const next = tokens[index + 2];
    const alias = /^as$/i.test(next?.text ?? '') ? tokens[index + 3] : next;
    if (dataset === undefined) return;
    found.set(unquote(dataset.text), unquote(dataset.text));
    if (alias?.kind === 'word' || alias?.kind === 'name') {
      found.set(unquote(alias.text), unquote(dataset.text));
    }
  });
  return found;
}

/** What could stand at a position of the text. @param position where the word to complete begins */
export async function completionsAt(sql: string, position: number): Promise<Completion[]> {
  const statement = statementAt(sql, position)?.text ?? '';
  const before = sql.slice(0, position);
  const [datasets, language] = await Promise.all([
    load<string[]>('/v1/datasets').catch(() => []),
    loadLanguage(),
  ]);
  const datasetItems = datasets.map(
    (id): Completion => ({ label: id, insert: quoteName(id), type: 'dataset' }),
  );
  if (/\b(from|join)\s+$/i.test(before)) return datasetItems;
  const owner = /((?:"(?:[^"]|"")*"|[\w$]+))\.$/.exec(before)?.[1];
  if (owner !== undefined) {
    const dataset = aliasesOf(statement).get(unquote(owner));
    if (dataset !== undefined) return columnItems(dataset);
  }
  const columns = await Promise.all(datasetsOf(statement).map(columnItems));
  const functions = language.functions.map(
    (about): Completion => ({
      label: about.name,
      insert: about.name,
      type: 'function',
      detail: about.signature.slice(about.name.length),
      about,
    }),
  );
  const keywords = language.keywords.map(
    (word): Completion => ({ label: word, insert: word, type: 'keyword' }),
  );
  return [...columns.flat(), ...functions, ...keywords, ...datasetItems];
}

async function columnItems(dataset: string): Promise<Completion[]> {
  const names = await columnsOf(dataset);
  return names.map((printed) => {
    const elements = pathElements(printed);
    return {
      label: elements.join('.'),
      insert: elements.map(quoteName).join('.'),
      type: 'column',
      detail: dataset,
    };
  });
}
