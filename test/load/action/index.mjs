// What users do, and how often beside one another. An action leaves nothing behind, so that the
// server has at the end what it had at the beginning.
import { APPLYING } from './applying.mjs';
import { FAILING } from './failing.mjs';
import { QUERYING } from './querying.mjs';
import { READING } from './reading.mjs';
import { RUNNING } from './running.mjs';
import { WRITING } from './writing.mjs';

export const ACTIONS = [...APPLYING, ...QUERYING, ...READING, ...WRITING, ...RUNNING, ...FAILING];
