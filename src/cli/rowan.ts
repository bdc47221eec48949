#!/usr/bin/env node
// The command `rowan`.
import * as nodeModule from 'node:module';

/** Node 22.8 and later keep compiled code; the types are those of Node 20. */
const { enableCompileCache } = nodeModule as {
  enableCompileCache?(): { readonly directory?: string };
};

// What `pidof rowan` finds.
process.title = 'rowan';

const directory = enableCompileCache?.().directory;
// Threads and processes that are started from here use the same.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;

const { makeProgram } = await import('./program.ts');
await makeProgram().parseAsync(process.argv);
