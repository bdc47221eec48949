#!/usr/bin/env node
// The command `rowan`.
import { makeProgram } from './program.ts';

await makeProgram().parseAsync(process.argv);
