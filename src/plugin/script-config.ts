// Where a program comes from: a text, a file, or an address.
import { dirname } from 'node:path';
import { type Static, Type } from 'typebox';
import { collectBytes } from '../file/byte-stream.ts';
import type { FileSystem } from '../file/file-system.ts';
import { requireProgram } from '../function/script-apply.ts';
import { failure } from '../util/error.ts';
import type { Program } from './message.ts';

/** The members of a script's configuration. */
export const SCRIPT_MEMBERS = {
  source: Type.Optional(
    Type.String({ description: 'text of the program', examples: ['args.x + 1'] }),
  ),
  address: Type.Optional(
    Type.String({ description: 'instead of source: file or http(s) URL of the program' }),
  ),
  args: Type.Optional(
    Type.Unknown({
      description: 'any JSON: the global `args` of the program',
      examples: [{ x: 41 }],
    }),
  ),
  writeSourceToFile: Type.Boolean({
    description: 'accepted for compatibility; programs are never written',
    default: false,
  }),
};

export const SCRIPT_CONFIG = Type.Object(SCRIPT_MEMBERS, {
  description: 'where the program is: source, or address; and its arguments',
});

export type ScriptConfig = Static<typeof SCRIPT_CONFIG>;

/** What of a script's configuration says which program is run, with which arguments. */
export type ScriptSource = Omit<ScriptConfig, 'writeSourceToFile'>;

/** A program and the directory that its files lie in, empty when there is none. */
export interface LoadedProgram {
  readonly program: Program;
  readonly directory: string;
}

/** @throws INVALID_PARAMETER; what reading the address throws */
export async function loadProgram(
  config: ScriptSource,
  files: FileSystem,
  owner: string,
): Promise<LoadedProgram> {
  requireProgram(config, owner);
  const { source, address, args } = config;
  if (address !== undefined && address !== '') return readProgram(address, args, files);
  return { program: { source: source ?? '', uri: '<source>', args }, directory: '' };
}

/** A directory or an archive stands for the `main.js` in it. */
function programUri(address: string): string {
  const isFile = /\.m?js$/.test(address) || /^https?:/.test(address);
  if (isFile || !address.includes(':')) return address;
  if (/^archive\+[^#]*$/.test(address)) return `${address}#main.js`;
  return `${address.replace(/\/+$/, '')}/main.js`;
}

async function readProgram(
  address: string,
  args: unknown,
  files: FileSystem,
): Promise<LoadedProgram> {
  if (/^(git|gist):/.test(address)) {
    throw failure('INVALID_URL', `git support is missing: ${address} cannot be cloned`);
  }
  const uri = programUri(address);
  const file = await files.open(uri);
  const bytes = await collectBytes(file.stream());
  return {
    program: { source: new TextDecoder().decode(bytes), uri, args },
    directory: file.plainPath === undefined ? '' : dirname(file.plainPath),
  };
}
