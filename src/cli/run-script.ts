// Batch mode: one script against the service, its logs on the console.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Rowan } from '../index.ts';
import type { ServerOptions } from '../schema/server-options.ts';
import type { Logger } from '../service/logger.ts';
import { failCommand } from './exit.ts';

type ScriptOptions = Pick<ServerOptions, 'scriptArgs' | 'scriptArgsUrl' | 'mutesFinalOutput'>;

const RUN_ROUTE = '/v1/types/plugins/javascript/routes/run';

/** What scripts say goes to standard output as they say it, all else to the log. */
export function withScriptOutput(logger: Logger): Logger {
  return {
    ...logger,
    info(details, message) {
      if (details.logger === 'script') process.stdout.write(`${message}\n`);
      else logger.info(details, message);
    },
  };
}

/** @returns whether the script ran to its end */
export async function runScript(
  rowan: Rowan,
  script: string,
  options: ScriptOptions,
): Promise<boolean> {
  const address = script.includes('://') ? script : pathToFileURL(resolve(script)).href;
  const extension = /\.[^./]*$/.exec(address)?.[0] ?? '';
  if (extension !== '.js') failCommand(`Unsupported extension '${extension}'`);
  const args = await readArguments(rowan, options);
  const reply = await rowan.post(RUN_ROUTE, { address, ...(args === undefined ? {} : { args }) });
  if (reply.status === 200) return true;
  if (!options.mutesFinalOutput) process.stderr.write(`${reply.status} ${reply.text}\n`);
  return false;
}

async function readArguments(rowan: Rowan, options: ScriptOptions): Promise<unknown> {
  const { scriptArgs, scriptArgsUrl } = options;
  try {
    if (scriptArgsUrl !== undefined) {
      const parts: Uint8Array[] = [];
      const file = await rowan.service.files.open(scriptArgsUrl);
      for await (const part of file.stream()) parts.push(part);
      return JSON.parse(Buffer.concat(parts).toString('utf8'));
    }
    return scriptArgs === undefined ? undefined : JSON.parse(scriptArgs);
  } catch (thrown) {
    return failCommand(`script arguments: ${(thrown as Error).message}`);
  }
}
