// Runs once before all tests: workers start from dist/ and kernels from build/, so both are renewed.

import { build } from '../../scripts/build.mjs';

export async function setup(): Promise<void> {
  const code = await build({ tolerateTypeErrors: true });
  if (code !== 0) throw new Error(`the build failed with exit code ${code}`);
}
