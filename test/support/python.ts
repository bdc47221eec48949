// The Python client, and the Python with what it can use.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './project.ts';

export const PYTHON_CLIENT = join(projectRoot, 'clients/python');
/** Where `.ci/run` installs it. */
const PYTHON = join(projectRoot, 'build/python-client/bin/python');

export function findPython(): string | undefined {
  return existsSync(PYTHON) ? PYTHON : undefined;
}

/**
 * Runs Python, which finds the client.
 * @returns what it prints
 * @throws an error with what it printed before it failed
 */
export async function runPython(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const env = {
    ...process.env,
    PYTHONPATH: join(PYTHON_CLIENT, 'src'),
    PYTHONDONTWRITEBYTECODE: '1',
    ...environment,
  };
  const run = promisify(execFile)(PYTHON, args, { env });
  const { stdout } = await run.catch(({ stdout, stderr }) => {
    throw new Error(`${stdout}\n${stderr}`);
  });
  return stdout;
}
