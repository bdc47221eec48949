// `npm test`: installs, builds, checks layout, lint rules and types, and runs every test.
// `npm test -- test/unit/sql` runs only the tests named.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { check } from './check.mjs';
import { installWhenStale, projectRoot, runTool } from './lib.mjs';

const CHECK_COUNT = 4;
const COUNTS = join(projectRoot, 'build', 'test-counts.json');

await installWhenStale();
const filters = process.argv.slice(2);
const counts = { passed: 0, failed: 0, skipped: 0 };

if ((await build({ tolerateTypeErrors: true })) !== 0) counts.failed++;
if (filters.length === 0) {
  const failedCount = await check();
  counts.failed += failedCount;
  counts.passed += CHECK_COUNT - failedCount;
}

rmSync(COUNTS, { force: true });
process.env.ROWAN_TEST_COUNTS = COUNTS;
const code = await runTool('vitest', 'vitest', ['run', ...filters]);
const tests = existsSync(COUNTS)
  ? JSON.parse(readFileSync(COUNTS, 'utf8'))
  : { passed: 0, failed: 1, skipped: 0 };
for (const key of Object.keys(counts)) counts[key] += tests[key];
if (code !== 0 && counts.failed === 0) counts.failed = 1;

const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed === 0 ? 0 : 1;
