// The function type script.apply: a program in the sandbox makes the output.
import { Type } from 'typebox';
import { ANY_TYPE, OPEN_ROW_TYPE } from '../plan/type/type.ts';
import { failure } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';
import { atomFromJson, pathFromJson, timestampFromJson } from '../value/json.ts';
import { nestCells } from '../value/nest.ts';
import { comparePaths, type Path } from '../value/path.ts';
import { NULL_VALUE, Row, Scalar, type Value } from '../value/value.ts';
import { datedOutput } from './function-json.ts';
import { functionType } from './function-type.ts';

export const scriptApply = functionType({
  name: 'script.apply',
  summary: 'Runs a program for each call: it sees the input as `args`, its value is the output.',
  flags: ['INTERNAL_ENTITY'],
  creationRole: 'admin',
  parameters: Type.Object({
    language: Type.String({ description: 'javascript', default: 'javascript' }),
    scriptConfig: Type.Object(
      {
        source: Type.Optional(
          Type.String({
            description: 'program whose value is an array of `[column, value, timestamp]`',
            examples: ['[["doubled", 2 * args[0][0][1][0], new Date()]]'],
          }),
        ),
        address: Type.Optional(
          Type.String({ description: 'instead of source: file or http(s) URL of the program' }),
        ),
        args: Type.Optional(
          Type.Unknown({ description: 'accepted for compatibility; `args` is the input' }),
        ),
        writeSourceToFile: Type.Boolean({
          description: 'accepted for compatibility; programs are never written',
          default: false,
        }),
      },
      { description: 'where the program is: source, or address' },
    ),
  }),
  binding: () => 'use',
  reachesHost: true,
  check({ language, scriptConfig }) {
    requireJavaScript(language);
    requireProgram(scriptConfig, 'script');
  },
  compile(params) {
    const { source, address } = params.scriptConfig;
    return {
      input: [{ kind: 'row', members: [{ name: 'args', type: OPEN_ROW_TYPE }], open: false }],
      output: { kind: 'row', members: [{ name: 'return', type: ANY_TYPE }], open: false },
      takesAnyValue: false,
      isLight: false,
      apply(input, scope) {
        if (scope.host === undefined) {
          throw failure('SQL_EXECUTION', 'script.apply is not available here: no script sandbox');
        }
        const args = input instanceof Row ? input.all('args')[0] : undefined;
        const script = {
          ...(source === undefined ? {} : { source }),
          ...(address === undefined ? {} : { address }),
        };
        const result = scope.host.runScript(script, datedOutput(args ?? NULL_VALUE));
        return new Row(['return'], [rowOf(result === undefined ? null : parseJson(result))]);
      },
    };
  },
});

/** Where a program is to be found; exactly one is given. */
export interface ProgramPlace {
  readonly source?: string;
  readonly address?: string;
}

/** @throws INVALID_PARAMETER unless there is one program. @param owner what it belongs to */
export function requireProgram({ source, address }: ProgramPlace, owner: string): void {
  const hasAddress = address !== undefined && address !== '';
  if (hasAddress && source !== undefined && source !== '') {
    throw failure('INVALID_PARAMETER', `Cannot specify both address and source for ${owner}`);
  }
  if (hasAddress || source !== undefined) return;
  throw failure('INVALID_PARAMETER', `either address or source must be given for ${owner}`);
}

/** @throws INVALID_PARAMETER */
export function requireJavaScript(language: string): void {
  if (language === 'javascript') return;
  throw failure('INVALID_PARAMETER', `unknown script language '${language}'; accepted: javascript`);
}

function rowOf(result: unknown): Value {
  if (!Array.isArray(result)) {
    throw failure('SCRIPT_EXCEPTION', 'Function should return array of arrays.');
  }
  const cells = result.map(cellOf).sort(([a], [b]) => comparePaths(a, b));
  return nestCells(
    cells.map(([path]) => path),
    cells.map(([, cell]) => cell),
  );
}

function cellOf(triple: unknown): [Path, Scalar] {
  if (!Array.isArray(triple)) {
    throw failure('SCRIPT_EXCEPTION', 'Function should return array of arrays.');
  }
  if (triple.length !== 3) throw failure('SCRIPT_EXCEPTION', 'elem should be array of size 3');
  const [column, value, ts] = triple as [unknown, unknown, unknown];
  return [pathFromJson(column), new Scalar(atomFromJson(value), timestampFromJson(ts))];
}
