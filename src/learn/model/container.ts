// The JSON container of all model files.
import { failure } from '../../util/error.ts';

export const MODEL_FORMAT = 'rowan.model';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A model's file as plain JSON data: what it is first, then its inputs, then its parameters. */
export function makeContainer(
  kind: string,
  version: number,
  columnNames: readonly string[],
  parameters: JsonObject,
): JsonObject {
  return { format: MODEL_FORMAT, kind, version, columnNames, ...parameters };
}

/** Checks format, kind and version. @throws DATA_ERROR naming what was found and what is needed */
export function openContainer(json: unknown, kind: string, version: number): JsonObject {
  const file = (typeof json === 'object' && json !== null ? json : {}) as JsonObject;
  if (file.format !== MODEL_FORMAT) {
    throw failure('DATA_ERROR', `not a model file: its format is not '${MODEL_FORMAT}'`);
  }
  if (file.kind !== kind) {
    throw failure('DATA_ERROR', `model file of kind '${file.kind}' where '${kind}' is needed`);
  }
  if (file.version !== version) {
    throw failure(
      'DATA_ERROR',
      `model file of version ${file.version}; version ${version} is read here`,
    );
  }
  return file;
}

/** @throws DATA_ERROR when the member is not a list */
export function readList(file: JsonObject, name: string): readonly unknown[] {
  const value = file[name];
  if (!Array.isArray(value)) throw invalidMember(name, 'a list');
  return value;
}

/** @throws DATA_ERROR when the member is not an object */
export function readObject(value: unknown, name: string): JsonObject {
  if (typeof value !== 'object' || value === null) throw invalidMember(name, 'an object');
  return value as JsonObject;
}

/** @throws DATA_ERROR when the value is not a number of at least `low` */
export function readNumber(value: unknown, name: string, low = Number.NEGATIVE_INFINITY): number {
  if (typeof value !== 'number' || !(value >= low)) throw invalidMember(name, 'a number');
  return value;
}

/** @throws DATA_ERROR when the value is not a text */
export function readText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw invalidMember(name, 'a text');
  return value;
}

/** @throws DATA_ERROR when the value is none of those accepted */
export function readChoice<Choice>(
  value: unknown,
  name: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((accepted) => accepted === value);
  if (choice === undefined) throw invalidMember(name, `one of ${choices.join(', ')}`);
  return choice;
}

export function invalidMember(name: string, accepted: string): Error {
  return failure('DATA_ERROR', `model file: ${name} is not ${accepted}`);
}
