// One seed for all generated tests, so that a run can be repeated; ROWAN_TEST_SEED takes another
// number, or `random`. A failure prints its seed.
import fc from 'fast-check';

const DEFAULT_SEED = 20_260_101;
const asked = process.env.ROWAN_TEST_SEED;

if (asked !== 'random') {
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked ?? DEFAULT_SEED) });
}
