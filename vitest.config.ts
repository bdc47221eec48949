import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

export default defineConfig({
  resolve: {
    alias: {
      'rowan-db/client': new URL('./src/client/index.ts', import.meta.url).pathname,
      'rowan-db': new URL('./src/index.ts', import.meta.url).pathname,
    },
  },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/random-seed.ts'],
    reporters: ['default', new ClosingLine()],
    // Forked processes: native modules and worker threads end with the process that made them.
    pool: 'forks',
    // Many tests wait for servers and browsers: as many processes as cores would leave some idle.
    maxWorkers: availableParallelism() + 1,
    // Ends a test that hangs, also on a busy machine.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
