// The JSON container of all model files.
import { createHash } from 'node:crypto';
import { failure } from '../../util/error.ts';

export const MODEL_FORMAT = 'rowan.model';

/** What a file of a model ends with: the SHA-256 of all bytes before the comma. */
const CHECKSUM = /,"sha256":"([0-9a-f]{64})"\}\s*$/;
const CHECKSUM_SIZE_MAX = 256;

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

/** The bytes of a model file: its JSON, and a checksum of it as the last member. */
export function encodeModelFile(model: JsonObject): Uint8Array {
  const open = Buffer.from(JSON.stringify(model).slice(0, -1));
  return Buffer.concat([open, Buffer.from(`,"sha256":"${sha256(open)}"}`)]);
}

/**
 * Files of earlier versions have no checksum.
 * @throws DATA_ERROR when the bytes are not those that were written
 */
export function checkModelFile(bytes: Uint8Array): void {
  const start = Math.max(0, bytes.length - CHECKSUM_SIZE_MAX);
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + start, bytes.length - start);
  const found = CHECKSUM.exec(end.toString('latin1'));
  if (found === null || sha256(bytes.subarray(0, start + found.index)) === found[1]) return;
  throw failure('DATA_ERROR', 'it is damaged: its checksum is not that of its content');
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
