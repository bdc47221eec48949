// Ends a run with its counts alone on a line, which is easy to find for people and programs.

import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * A vitest reporter. What keeps tests from running (a file that cannot be loaded, a failing hook,
 * an error nobody caught) counts as a failed test, so that it never disappears from the counts.
 * With ROWAN_TEST_COUNTS the counts go to that file instead, for a caller that adds its own.
 */
export class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts: TestCounts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') counts[state]++;
      }
    }
    const file = process.env.ROWAN_TEST_COUNTS;
    if (file === undefined) process.stdout.write(`${closingLine(counts)}\n`);
    else writeFileSync(file, JSON.stringify(counts));
  }
}

function closingLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
