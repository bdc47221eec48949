// Many users of one server at the same time, each on a connection of its own. Every reply is
// checked: a status or a body that the request must not give is a failure.
import { setPriority } from 'node:os';
import { ACTIONS } from './action/index.mjs';
import { Connection } from './connection.mjs';
import { prepare } from './fixture.mjs';

const FAILURES_KEPT_MAX = 20;
/** Users have machines of their own: here they only take what the server leaves. */
const NICENESS = 10;

setPriority(NICENESS);

const { origin, userCount, seconds, directory } = JSON.parse(process.argv[2]);
const fixture = await prepare(origin, directory);
process.send({ type: 'prepared' });
await new Promise((resolve) => process.once('message', resolve));

const tallies = new Map(ACTIONS.map(({ name }) => [name, { count: 0, failedCount: 0, times: [] }]));
const failures = [];
const deadline = performance.now() + seconds * 1000;
const totalWeight = ACTIONS.reduce((sum, { weight }) => sum + weight, 0);

await Promise.all(Array.from({ length: userCount }, (_, index) => use(index)));
process.send({ type: 'done', tallies: summary(), failures }, () => process.exit());

async function use(index) {
  const random = randomNumbers(index + 1);
  const connection = new Connection(origin);
  for (let serial = 0; performance.now() < deadline; serial++) {
    const action = pick(random());
    const start = performance.now();
    const tally = tallies.get(action.name);
    try {
      await action.perform({ connection, fixture, random, name: `u${index}_${serial}`, origin });
      tally.count++;
    } catch (error) {
      tally.failedCount++;
      if (failures.length < FAILURES_KEPT_MAX) failures.push(`${action.name}: ${error.message}`);
      connection.close();
    }
    tally.times.push(performance.now() - start);
  }
  connection.close();
}

function pick(share) {
  let weight = share * totalWeight;
  for (const action of ACTIONS) {
    weight -= action.weight;
    if (weight < 0) return action;
  }
  return ACTIONS.at(-1);
}

/** How often each action was done, and how long it took in milliseconds. */
function summary() {
  return [...tallies].map(([name, { count, failedCount, times }]) => {
    const sorted = times.sort((a, b) => a - b);
    const at = (share) =>
      Math.round((sorted[Math.floor((sorted.length - 1) * share)] ?? 0) * 10) / 10;
    return { name, count, failedCount, p50: at(0.5), p99: at(0.99) };
  });
}

/** A linear congruential generator. */
function randomNumbers(seed) {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
