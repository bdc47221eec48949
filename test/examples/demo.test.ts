// `npm run demo` does what it prints, a kill -9 and a restart included.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the demo imports, trains, serves, survives SIGKILL and answers the same', async () => {
  // As somebody would who has a server on the usual port, if nobody has one already.
  const other = createServer()
    .listen(8080, '127.0.0.1')
    .on('error', () => undefined);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/demo.mjs', '--exit']);
    expect(stdout).toMatch(/AUC of damage: 0\.[78]/);
    expect(stdout).toContain('The answers are the same.');
    const folder = /"modelFileUrl": "file:\/\/(.*rowan-demo-[^/]*)\//.exec(stdout)?.[1] as string;
    expect([folder, existsSync(folder)]).toEqual([expect.any(String), false]);
  } finally {
    other.close();
  }
}, 120_000);
