// `npm run load`: many users at the same time for a minute, with a report of what they met.
// `npm run load -- --seconds 20 --users 50` for less.
import { parseArgs } from 'node:util';
import { runTool } from './lib.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    users: { type: 'string', default: '200' },
  },
});
process.env.ROWAN_LOAD_SECONDS = values.seconds;
process.env.ROWAN_LOAD_USERS = values.users;
process.exitCode = await runTool('vitest', 'vitest', ['run', 'test/load']);
