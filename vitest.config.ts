import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    // Forked processes: native modules and worker threads end with the process that made them.
    pool: 'forks',
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
