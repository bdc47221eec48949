// System services that some tests need. Where a test machine lacks one its tests are skipped, but
// in CI, which installs them all, a missing service is a failure.

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of the first of these programs that is installed, searched for along PATH. */
export function findProgram(...names: readonly string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.find((path) => existsSync(path));
}

export function findChromium(): string | undefined {
  return findProgram('chromium', 'chromium-browser', 'google-chrome');
}

export function findSchemathesis(): string | undefined {
  return findProgram('schemathesis');
}

/**
 * Whether tests of a service can run; use as `describe.runIf(canTest('chromium', findChromium()))`.
 * @throws in CI when the service is missing
 */
export function canTest(service: string, found: unknown): boolean {
  if (found !== undefined && found !== false) return true;
  if (process.env.CI === 'true') throw new Error(`${service} is missing, .ci/run must install it`);
  return false;
}
