// Where a program comes from: a text, a file, or an address.
import { dirname } from 'node:path';
import { Type } from 'typebox';
import { collectBytes } from '../file/byte-stream.ts';
import type { FileSystem } from '../file/file-system.ts';
import { failure } from '../util/error.ts';
import type { Program } from './message.ts';

/** The members of a script's configuration. */
export const SCRIPT_MEMBERS = {
  source: Type.Optional(Type.String({ description: 'text of the program' })),
  address: Type.Optional(
    Type.String({ description: 'instead of source: file or http(s) URL of the program' }),
  ),
  args: Type.Optional(Type.Unknown({ description: 'any JSON: the global `args` of the program' })),
  writeSourceToFile: Type.Boolean({
    description: 'accepted for compatibility; programs are never written',
    default: false,
  }),
};

export const SCRIPT_CONFIG = Type.Object(SCRIPT_MEMBERS);

export interface ScriptConfig {
  readonly source?: string;
  readonly address?: string;
  readonly args?: unknown;
}

/** A program and the directory that its files lie in, empty when there is none. */
export interface LoadedProgram {
  readonly program: Program;
  readonly directory: string;
}

/** @throws INVALID_PARAMETER; what reading the address throws */
export async function loadProgram(
  { source, address, args }: ScriptConfig,
  files: FileSystem,
  owner: string,
): Promise<LoadedProgram> {
  const hasSource = source !== undefined && source !== '';
  const hasAddress = address !== undefined && address !== '';
  if (hasSource && hasAddress) {
    throw failure('INVALID_PARAMETER', `Cannot specify both address and source for ${owner}`);
  }
  if (hasAddress) return readProgram(address, args, files);
  if (source === undefined) {
    throw failure('INVALID_PARAMETER', `either address or source must be given for ${owner}`);
  }
  return { program: { source, uri: '<source>', args }, directory: '' };
}

async function readProgram(
  address: string,
  args: unknown,
  files: FileSystem,
): Promise<LoadedProgram> {
  if (/^(git|gist):/.test(address)) {
    throw failure('INVALID_URL', `git support is missing: ${address} cannot be cloned`);
  }
  const isFile = /\.m?js$/.test(address) || /^https?:/.test(address);
  const uri = isFile ? address : `${address.replace(/\/+$/, '')}/main.js`;
  const file = await files.open(uri);
  const bytes = await collectBytes(file.stream());
  return {
    program: { source: new TextDecoder().decode(bytes), uri, args },
    directory: file.plainPath === undefined ? '' : dirname(file.plainPath),
  };
}
