// Writes airline-like CSV files for benchmarks: six categorical and two numeric columns of a
// flight, and whether it left late, which depends on them as in the real world: mostly on the
// hour, then on airports, carrier and season, partly on combinations that only trees see.
//
//   node bench/data/airline.mjs 1000000 [seed]     prints the path of the file

import { closeSync, existsSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomChoice, randomIntegers, randomNormals, randomUniforms } from './random.mjs';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));
const HEADER =
  'Month,DayofMonth,DayOfWeek,DepTime,UniqueCarrier,Origin,Dest,Distance,dep_delayed_15min\n';

/** Part of the file names: a change of the rows below must change it. */
const VERSION = 1;

const MONTH_COUNT = 12;
const DAY_COUNT = 31;
const WEEKDAY_COUNT = 7;
const CARRIER_COUNT = 22;
const AIRPORT_COUNT = 300;
const LATE_SHARE = 0.205;

/**
 * The path of a file of `rowCount` rows, written first when it does not exist. Another seed gives
 * other flights of the same world, for instance to test a model on.
 */
export function airlineCsv(rowCount, seed = 1) {
  const path = join(CACHE, `airline-v${VERSION}-${rowCount}-${seed}.csv`);
  if (existsSync(path)) return path;
  mkdirSync(CACHE, { recursive: true });
  const draft = `${path}.${process.pid}.part`;
  writeRows(draft, rowCount, seed);
  renameSync(draft, path);
  return path;
}

/** Airports, carriers and what makes flights late; always the same. */
function makeWorld() {
  const uniform = randomUniforms(7);
  const normal = randomNormals(8);
  const effects = (count, deviation) =>
    Float64Array.from({ length: count }, () => normal() * deviation);

  const airportCodes = new Set();
  const letter = () => String.fromCharCode(65 + Math.floor(uniform() * 26));
  while (airportCodes.size < AIRPORT_COUNT) airportCodes.add(letter() + letter() + letter());
  const carrierCodes = new Set();
  while (carrierCodes.size < CARRIER_COUNT) carrierCodes.add(letter() + letter());

  const hourWeights = Array.from({ length: 24 }, (_, hour) => (hour < 6 ? 0.4 : hour < 21 ? 6 : 2));
  const world = {
    airportCodes: [...airportCodes],
    carrierCodes: [...carrierCodes],
    // A few airports and carriers have most of the flights.
    airportWeights: Array.from({ length: AIRPORT_COUNT }, (_, i) => 1 / (i + 6)),
    carrierWeights: Array.from({ length: CARRIER_COUNT }, (_, i) => 1 / (i + 3)),
    hourWeights,
    // Places on a map of 4,400 by 1,900 miles.
    x: Float64Array.from({ length: AIRPORT_COUNT }, () => uniform() * 4400),
    y: Float64Array.from({ length: AIRPORT_COUNT }, () => uniform() * 1900),
    hour: Float64Array.from({ length: 24 }, (_, hour) =>
      hour < 5 ? 1.2 - hour * 0.4 : -1.4 + (hour - 5) * 0.17,
    ),
    month: effects(MONTH_COUNT, 0.25),
    day: effects(DAY_COUNT, 0.08),
    weekday: effects(WEEKDAY_COUNT, 0.15),
    carrier: effects(CARRIER_COUNT, 0.35),
    origin: effects(AIRPORT_COUNT, 0.4),
    destination: effects(AIRPORT_COUNT, 0.25),
    monthByWeekday: effects(MONTH_COUNT * WEEKDAY_COUNT, 0.25),
    carrierByOrigin: effects(CARRIER_COUNT * AIRPORT_COUNT, 0.5),
    hourByCarrier: effects(24 * CARRIER_COUNT, 0.4),
    intercept: 0,
  };
  world.intercept = findIntercept(world);
  return world;
}

const SAMPLE_COUNT = 200_000;

/** Where the share of late flights in a sample is as wanted, by bisection. */
function findIntercept(world) {
  const draw = flightSource(world, 9);
  const scores = Float64Array.from({ length: SAMPLE_COUNT }, () => draw().score);
  let low = -10;
  let high = 10;
  while (high - low > 1e-9) {
    const middle = (low + high) / 2;
    let expected = 0;
    for (const score of scores) expected += 1 / (1 + Math.exp(-(score + middle)));
    if (expected / SAMPLE_COUNT < LATE_SHARE) low = middle;
    else high = middle;
  }
  return low;
}

/** Draws one flight after the other, always into the same object. */
function flightSource(world, seed) {
  const integers = randomIntegers(seed);
  const below = (count) => Math.floor(integers() * 2 ** -32 * count);
  const chooseAirport = randomChoice(world.airportWeights, integers);
  const chooseCarrier = randomChoice(world.carrierWeights, integers);
  const chooseHour = randomChoice(world.hourWeights, integers);
  const flight = {
    ...{ month: 0, day: 0, weekday: 0, time: 0, carrier: 0, origin: 0, destination: 0 },
    ...{ distance: 0, score: 0, isLate: false },
  };
  return () => {
    const month = below(MONTH_COUNT);
    const day = below(DAY_COUNT);
    const weekday = below(WEEKDAY_COUNT);
    const hour = chooseHour();
    const carrier = chooseCarrier();
    const origin = chooseAirport();
    let destination = chooseAirport();
    while (destination === origin) destination = chooseAirport();
    const distance = Math.round(
      Math.hypot(world.x[origin] - world.x[destination], world.y[origin] - world.y[destination]),
    );
    const score =
      world.intercept +
      world.hour[hour] +
      world.month[month] +
      world.day[day] +
      world.weekday[weekday] +
      world.carrier[carrier] +
      world.origin[origin] +
      world.destination[destination] +
      world.monthByWeekday[month * WEEKDAY_COUNT + weekday] +
      world.carrierByOrigin[carrier * AIRPORT_COUNT + origin] +
      world.hourByCarrier[hour * CARRIER_COUNT + carrier] +
      (distance > 2500 ? 0.3 : distance < 300 ? -0.2 : 0);
    flight.month = month;
    flight.day = day;
    flight.weekday = weekday;
    flight.time = hour * 100 + below(60);
    flight.carrier = carrier;
    flight.origin = origin;
    flight.destination = destination;
    flight.distance = Math.min(Math.max(distance, 20), 4900);
    flight.score = score;
    flight.isLate = integers() * 2 ** -32 < 1 / (1 + Math.exp(-score));
    return flight;
  };
}

const BUFFER_SIZE = 1 << 20;
const ROW_SIZE_MAX = 64;

function writeRows(path, rowCount, seed) {
  const world = makeWorld();
  const draw = flightSource(world, seed * 1000 + 17);
  const numbered = Array.from({ length: DAY_COUNT }, (_, i) => Buffer.from(`c-${i + 1},`));
  const carriers = world.carrierCodes.map((code) => Buffer.from(`${code},`));
  const airports = world.airportCodes.map((code) => Buffer.from(`${code},`));
  const file = openSync(path, 'w');
  const buffer = Buffer.alloc(BUFFER_SIZE);
  let size = buffer.write(HEADER);

  const put = (bytes) => {
    for (let i = 0; i < bytes.length; i++) buffer[size++] = bytes[i];
  };
  const putNumber = (value) => {
    let scale = value >= 1000 ? 1000 : value >= 100 ? 100 : value >= 10 ? 10 : 1;
    for (; scale >= 1; scale /= 10) buffer[size++] = 48 + (Math.floor(value / scale) % 10);
    buffer[size++] = 44;
  };

  for (let row = 0; row < rowCount; row++) {
    const flight = draw();
    put(numbered[flight.month]);
    put(numbered[flight.day]);
    put(numbered[flight.weekday]);
    putNumber(flight.time);
    put(carriers[flight.carrier]);
    put(airports[flight.origin]);
    put(airports[flight.destination]);
    putNumber(flight.distance);
    buffer[size++] = flight.isLate ? 89 : 78;
    buffer[size++] = 10;
    if (size > BUFFER_SIZE - ROW_SIZE_MAX) {
      writeSync(file, buffer, 0, size);
      size = 0;
    }
  }
  writeSync(file, buffer, 0, size);
  closeSync(file);
}

if (process.argv[1] === import.meta.filename) {
  const rowCount = Number(process.argv[2] ?? 1_000_000);
  const seed = Number(process.argv[3] ?? 1);
  if (!(Number.isInteger(rowCount) && rowCount > 0 && Number.isInteger(seed))) {
    console.error('usage: node bench/data/airline.mjs [rows] [seed]');
    process.exit(1);
  }
  console.log(airlineCsv(rowCount, seed));
}
