// The peak memory of this process, in bytes. What the system counts as `maxRSS` begins with what the
// process that started it had, so it tells nothing of a small process below a large one.

import { readFileSync } from 'node:fs';

export function peakMemory() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'));
  return Number(kilobytes) * 1024;
}
