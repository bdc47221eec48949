// The hierarchy of graphs that finds neighbors, see learn/neighbor/neighbor-graph.ts. Distances are
// squared, of 32 bits.

/** A graph, and what a search or an insertion needs beside it. */
@unmanaged
@shared
class GraphTask {
  /** `stride` bytes a point, a multiple of 16; the padding is zero */
  points: usize;
  stride: u32;
  count: u32;
  m: i32;
  /** i32 on the lowest level: the number of links and room for 2m of them, a point */
  links: usize;
  /** i32 a point: its first list in `upper` */
  upperStarts: usize;
  /** i32 on the levels above: the number of links and room for m of them, a list */
  upper: usize;
  /** where searches begin; -1: the graph is empty */
  entry: i32;
  topLevel: i32;
  /** a bit a point, in whole words of 32 */
  visited: usize;
  /** u64 a point in sight, one more than `ef`: its distance above its number */
  beam: usize;
  /** 2m + 4 i32: points of one list that were not visited before */
  fresh: usize;
  /** 2m i32: the links that were chosen last */
  chosen: usize;
  /** 2m + 1 u64 as in `beam`: the links of one point, nearest first */
  ranked: usize;
}

/** In the number of a point in sight: its links were followed. */
const EXPANDED: u32 = 1 << 31;

@inline
function pointAt(task: GraphTask, point: u32): usize {
  return task.points + <usize>point * task.stride;
}

@inline
function sumOf(lanes: v128): f32 {
  return (
    f32x4.extract_lane(lanes, 0) +
    f32x4.extract_lane(lanes, 1) +
    (f32x4.extract_lane(lanes, 2) + f32x4.extract_lane(lanes, 3))
  );
}

function distanceOf(a: usize, b: usize, size: usize): f32 {
  let sums = f32x4.splat(0);
  for (const end = a + size; a < end; a += 16, b += 16) {
    const difference = f32x4.sub(v128.load(a), v128.load(b));
    sums = f32x4.add(sums, f32x4.mul(difference, difference));
  }
  return sumOf(sums);
}

/** Distances of four points, whose numbers lie at `list`: their memory is waited for together. */
@inline
function distancesOfFour(task: GraphTask, query: usize, list: usize): v128 {
  let a = pointAt(task, load<u32>(list));
  let b = pointAt(task, load<u32>(list, 4));
  let c = pointAt(task, load<u32>(list, 8));
  let d = pointAt(task, load<u32>(list, 12));
  let as = f32x4.splat(0);
  let bs = as;
  let cs = as;
  let ds = as;
  const end = query + task.stride;
  for (let at = query; at < end; at += 16) {
    const q = v128.load(at);
    let difference = f32x4.sub(v128.load(a), q);
    as = f32x4.add(as, f32x4.mul(difference, difference));
    difference = f32x4.sub(v128.load(b), q);
    bs = f32x4.add(bs, f32x4.mul(difference, difference));
    difference = f32x4.sub(v128.load(c), q);
    cs = f32x4.add(cs, f32x4.mul(difference, difference));
    difference = f32x4.sub(v128.load(d), q);
    ds = f32x4.add(ds, f32x4.mul(difference, difference));
    a += 16;
    b += 16;
    c += 16;
    d += 16;
  }
  const low = f32x4.add(
    v128.shuffle<f32>(as, bs, 0, 4, 1, 5),
    v128.shuffle<f32>(as, bs, 2, 6, 3, 7),
  );
  const high = f32x4.add(
    v128.shuffle<f32>(cs, ds, 0, 4, 1, 5),
    v128.shuffle<f32>(cs, ds, 2, 6, 3, 7),
  );
  return f32x4.add(
    v128.shuffle<f32>(low, high, 0, 1, 4, 5),
    v128.shuffle<f32>(low, high, 2, 3, 6, 7),
  );
}

/** Bits of distances order as they do, because none is negative. */
@inline
function entryOf(distance: f32, point: u32): u64 {
  return (<u64>reinterpret<u32>(distance) << 32) | point;
}

@inline
function distanceOfEntry(entry: usize): f32 {
  return load<f32>(entry, 4);
}

/** The list of links of a point: their number first. */
@inline
function linksAt(task: GraphTask, point: u32, level: i32): usize {
  if (level == 0) return task.links + ((<usize>point * (2 * task.m + 1)) << 2);
  const list = load<i32>(task.upperStarts + (<usize>point << 2)) + level - 1;
  return task.upper + ((<usize>list * (task.m + 1)) << 2);
}

/** Puts an entry among `count` sorted ones, behind those that are as near. @returns its place */
@inline
function place(entries: usize, count: i32, distance: f32, point: u32): i32 {
  let low: i32 = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (distanceOfEntry(entries + (<usize>middle << 3)) <= distance) low = middle + 1;
    else high = middle;
  }
  const at = entries + (<usize>low << 3);
  memory.copy(at + 8, at, <usize>(count - low) << 3);
  store<u64>(at, entryOf(distance, point));
  return low;
}

/** Goes on to nearer points while there are any. */
function descend(task: GraphTask, query: usize, from: u32, level: i32): u32 {
  const size = <usize>task.stride;
  let nearest = from;
  let least = distanceOf(query, pointAt(task, from), size);
  let isNearer = true;
  while (isNearer) {
    isNearer = false;
    let link = linksAt(task, nearest, level);
    const end = link + (<usize>load<i32>(link) << 2);
    while (link < end) {
      link += 4;
      const other = load<u32>(link);
      const distance = distanceOf(query, pointAt(task, other), size);
      if (distance >= least) continue;
      nearest = other;
      least = distance;
      isNearer = true;
    }
  }
  return nearest;
}

/** Fills the beam with the points nearest to the query that links lead to. @returns how many */
function spread(task: GraphTask, query: usize, from: u32, ef: i32, level: i32): i32 {
  const beam = task.beam;
  const visited = task.visited;
  const fresh = task.fresh;
  memory.fill(visited, 0, <usize>((task.count + 31) >> 5) << 2);
  store<u64>(beam, entryOf(distanceOf(query, pointAt(task, from), task.stride), from));
  const word = visited + (<usize>(from >> 5) << 2);
  store<u32>(word, load<u32>(word) | (1 << (from & 31)));
  let count: i32 = 1;
  let next: i32 = 0;
  while (next < count) {
    const head = beam + (<usize>next << 3);
    const point = load<u32>(head);
    next++;
    if (point & EXPANDED) continue;
    store<u32>(head, point | EXPANDED);
    let link = linksAt(task, point, level);
    const end = link + (<usize>load<i32>(link) << 2);
    let freshEnd = fresh;
    while (link < end) {
      link += 4;
      const other = load<u32>(link);
      const at = visited + (<usize>(other >> 5) << 2);
      const bits = load<u32>(at);
      const bit = <u32>1 << (other & 31);
      store<u32>(at, bits | bit);
      store<u32>(freshEnd, other);
      freshEnd += <usize>((bits & bit) == 0) << 2;
    }
    if (freshEnd == fresh) continue;
    // The last four are made whole by the first of the list.
    for (let i: usize = 0; i < 12; i += 4) store<u32>(freshEnd + i, load<u32>(fresh));
    for (let list = fresh; list < freshEnd; list += 16) {
      const distances = distancesOfFour(task, query, list);
      const laneCount = min<i32>(4, <i32>((freshEnd - list) >> 2));
      for (let lane: i32 = 0; lane < laneCount; lane++) {
        const distance = laneOf(distances, lane);
        if (count == ef) {
          if (distance >= distanceOfEntry(beam + (<usize>(count - 1) << 3))) continue;
          count--;
        }
        next = min(next, place(beam, count, distance, load<u32>(list + (<usize>lane << 2))));
        count++;
      }
    }
  }
  return count;
}

@inline
function laneOf(lanes: v128, lane: i32): f32 {
  if (lane < 2) return lane == 0 ? f32x4.extract_lane(lanes, 0) : f32x4.extract_lane(lanes, 1);
  return lane == 2 ? f32x4.extract_lane(lanes, 2) : f32x4.extract_lane(lanes, 3);
}

/**
 * Chooses entries of which none is nearer to another chosen one than to the query, nearest first.
 * @returns how many
 */
function choose(task: GraphTask, entries: usize, count: i32, countMax: i32): i32 {
  const size = <usize>task.stride;
  let chosenEnd = task.chosen;
  const full = chosenEnd + (<usize>countMax << 2);
  const end = entries + (<usize>count << 3);
  for (let entry = entries; entry < end && chosenEnd < full; entry += 8) {
    const point = load<u32>(entry) & ~EXPANDED;
    const own = distanceOfEntry(entry);
    const coordinates = pointAt(task, point);
    let other = task.chosen;
    while (
      other < chosenEnd &&
      distanceOf(coordinates, pointAt(task, load<u32>(other)), size) >= own
    ) {
      other += 4;
    }
    if (other < chosenEnd) continue;
    store<u32>(chosenEnd, point);
    chosenEnd += 4;
  }
  return <i32>((chosenEnd - task.chosen) >> 2);
}

function setLinks(task: GraphTask, links: usize, count: i32): void {
  store<i32>(links, count);
  memory.copy(links + 4, task.chosen, <usize>count << 2);
}

/** Links a point to a new one; where there is no room the links are chosen anew. */
function connect(task: GraphTask, point: u32, added: u32, level: i32): void {
  const links = linksAt(task, point, level);
  const count = load<i32>(links);
  const countMax = level == 0 ? 2 * task.m : task.m;
  if (count < countMax) {
    store<u32>(links + (<usize>(count + 1) << 2), added);
    store<i32>(links, count + 1);
    return;
  }
  const coordinates = pointAt(task, point);
  const size = <usize>task.stride;
  place(task.ranked, 0, distanceOf(coordinates, pointAt(task, added), size), added);
  for (let i: i32 = 0; i < count; i++) {
    const other = load<u32>(links + (<usize>(i + 1) << 2));
    place(task.ranked, i + 1, distanceOf(coordinates, pointAt(task, other), size), other);
  }
  setLinks(task, links, choose(task, task.ranked, count + 1, countMax));
}

/**
 * Adds a point, whose coordinates are there, to the levels up to `level`. Points are added in the
 * order of their numbers; `ef` are kept in sight. `linked` holds m i32.
 */
export function insertIntoGraph(
  taskAddress: usize,
  point: i32,
  level: i32,
  ef: i32,
  linked: usize,
): void {
  const task = changetype<GraphTask>(taskAddress);
  if (task.entry == -1) {
    task.entry = point;
    task.topLevel = level;
    return;
  }
  const query = pointAt(task, point);
  let nearest = <u32>task.entry;
  for (let at = task.topLevel; at > level; at--) nearest = descend(task, query, nearest, at);
  for (let at = min(level, task.topLevel); at >= 0; at--) {
    const count = spread(task, query, nearest, ef, at);
    nearest = load<u32>(task.beam) & ~EXPANDED;
    const chosenCount = choose(task, task.beam, count, task.m);
    setLinks(task, linksAt(task, point, at), chosenCount);
    // Other choices are made on the way.
    memory.copy(linked, task.chosen, <usize>chosenCount << 2);
    for (let i: i32 = 0; i < chosenCount; i++) {
      connect(task, load<u32>(linked + (<usize>i << 2)), point, at);
    }
  }
  if (level <= task.topLevel) return;
  task.topLevel = level;
  task.entry = point;
}

/**
 * The points about nearest to a query of `stride` bytes: their numbers as i32, nearest first,
 * to `found`, at most `ef`. Answers how many.
 */
export function searchGraph(taskAddress: usize, query: usize, ef: i32, found: usize): i32 {
  const task = changetype<GraphTask>(taskAddress);
  if (task.entry == -1) return 0;
  let nearest = <u32>task.entry;
  for (let at = task.topLevel; at > 0; at--) nearest = descend(task, query, nearest, at);
  const count = spread(task, query, nearest, ef, 0);
  for (let i: i32 = 0; i < count; i++) {
    const number = load<u32>(task.beam + (<usize>i << 3)) & ~EXPANDED;
    store<u32>(found + (<usize>i << 2), number);
  }
  return count;
}
