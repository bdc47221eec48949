// Stochastic descent of UMAP layouts: edges pull their ends together, as often as they weigh, and
// each pull pushes the first end away from points that are drawn.
import { loadRandom, nextRandom, randomBelow } from './random';

/** What an epoch needs. */
@unmanaged
@shared
class UmapTask {
  /** dimension f64 a point */
  positions: usize;
  pointCount: u32;
  dimension: i32;
  /** i32 an edge */
  heads: usize;
  tails: usize;
  /** f64 an edge: epochs between two of its turns, the epoch of the next one, and that of the next push */
  intervals: usize;
  nextTurns: usize;
  nextPushes: usize;
  /** four words, carried on from call to call */
  random: usize;
  negativeSampleRate: f64;
  a: f64;
  b: f64;
}

@inline
function clipped(value: f64): f64 {
  return max(-4.0, min(4.0, value));
}

/** Single precision is enough for a force, and takes a third of the time. */
@inline
function powerOf(base: f64, exponent: f64): f64 {
  return <f64>Mathf.pow(<f32>base, <f32>exponent);
}

/** Takes the turns of the edges from `from` to `to` in an epoch. */
export function umapEpoch(taskAddress: usize, from: i32, to: i32, epoch: f64, rate: f64): void {
  const task = changetype<UmapTask>(taskAddress);
  const size = <usize>task.dimension << 3;
  const a = task.a;
  const b = task.b;
  loadRandom(task.random);
  for (let e = <usize>from; e < <usize>to; e++) {
    const interval = load<f64>(task.intervals + (e << 3));
    const turn = load<f64>(task.nextTurns + (e << 3));
    if (turn > epoch) continue;
    const head = task.positions + <usize>load<i32>(task.heads + (e << 2)) * size;
    const tail = task.positions + <usize>load<i32>(task.tails + (e << 2)) * size;
    let distance: f64 = 0;
    for (let k: usize = 0; k < size; k += 8) {
      const d = load<f64>(head + k) - load<f64>(tail + k);
      distance += d * d;
    }
    if (distance > 0) {
      const power = powerOf(distance, b);
      const pull = (-2 * a * b * power) / (distance * (a * power + 1));
      for (let k: usize = 0; k < size; k += 8) {
        const step = rate * clipped(pull * (load<f64>(head + k) - load<f64>(tail + k)));
        store<f64>(head + k, load<f64>(head + k) + step);
        store<f64>(tail + k, load<f64>(tail + k) - step);
      }
    }
    store<f64>(task.nextTurns + (e << 3), turn + interval);
    const pushInterval = interval / task.negativeSampleRate;
    const nextPush = load<f64>(task.nextPushes + (e << 3));
    const pushes = <i32>((epoch - nextPush) / pushInterval);
    for (let p: i32 = 0; p < pushes; p++) {
      const other = task.positions + <usize>randomBelow(task.pointCount) * size;
      if (other == head) continue;
      distance = 0;
      for (let k: usize = 0; k < size; k += 8) {
        const d = load<f64>(head + k) - load<f64>(other + k);
        distance += d * d;
      }
      if (distance == 0) continue;
      const push = (2 * b) / ((0.001 + distance) * (a * powerOf(distance, b) + 1));
      for (let k: usize = 0; k < size; k += 8) {
        const step = rate * clipped(push * (load<f64>(head + k) - load<f64>(other + k)));
        store<f64>(head + k, load<f64>(head + k) + step);
      }
    }
    store<f64>(task.nextPushes + (e << 3), nextPush + <f64>pushes * pushInterval);
  }
  // The next call starts from a state that depends on this one's.
  for (let word: usize = 0; word < 16; word += 4) store<u32>(task.random + word, nextRandom());
}
