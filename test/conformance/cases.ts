// Reads conformance cases and picks those asked for.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseJson } from '../../src/util/exact-json.ts';

export type Request = readonly [
  verb: string,
  path: string,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
];

export interface ConformanceCase {
  readonly name: string;
  readonly area: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly setup?: readonly Request[];
  readonly request: Request;
  readonly status: number | string;
  readonly expect?: unknown;
  readonly compare: string;
}

export interface CaseFile {
  readonly name: string;
  readonly cases: readonly ConformanceCase[];
}

const CASES = new URL('cases/', import.meta.url);
const PENDING = new URL('pending.json', import.meta.url);
const WARNED = new URL('warned.json', import.meta.url);

export function readCaseFiles(): CaseFile[] {
  return readdirSync(CASES)
    .filter((file) => file.endsWith('.json'))
    .sort()
    .map((file) => ({
      name: file.replace(/\.json$/, ''),
      cases: parseJson(readFileSync(new URL(file, CASES), 'utf8')) as ConformanceCase[],
    }));
}

/**
 * @param selection file names and parts of case names, separated by commas; a file name takes
 *   all of its cases. Undefined or empty takes everything.
 */
export function selectCases(files: readonly CaseFile[], selection: string | undefined): CaseFile[] {
  const words = (selection ?? '').split(',').filter((word) => word !== '');
  if (words.length === 0) return [...files];
  const selected = files.map((file) =>
    words.includes(file.name)
      ? file
      : {
          name: file.name,
          cases: file.cases.filter(({ name }) => words.some((word) => name.includes(word))),
        },
  );
  return selected.filter(({ cases }) => cases.length > 0);
}

/** Names of cases that are not expected to pass yet. */
export function readPending(): Set<string> {
  return new Set(JSON.parse(readFileSync(PENDING, 'utf8')) as string[]);
}

export function writePending(names: Iterable<string>): void {
  writeFileSync(PENDING, `${JSON.stringify([...names].sort(), null, 2)}\n`);
}

/** The codes of the warnings that cases deserve, by name; the others deserve none. */
export function readWarned(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(WARNED, 'utf8')) as Record<string, string>;
}
