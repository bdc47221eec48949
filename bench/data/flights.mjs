// Tables for SQL benchmarks: flights are the airline-like rows with four more columns; fares and
// tickets are what they are joined with.

import {
  closeSync,
  createReadStream,
  existsSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { airlineCsv } from './airline.mjs';
import { randomIntegers } from './random.mjs';

const CACHE = fileURLToPath(new URL('../.cache/', import.meta.url));

/** Part of the file names: a change of the rows below must change it. */
const VERSION = 1;

const TAIL_COUNT = 50_000;
export const FARE_COUNT = 10_000;
const TICKET_COUNT = 1_000_000;

/**
 * The airline-like rows with `Ticket` (up to 1M distinct integers), `Tail` (50,000 distinct
 * strings), `Fare` (a key of the table of fares) and `Price` (a double with two decimals).
 * @returns the path of the file, which is written first when it does not exist
 */
export async function flightsCsv(rowCount) {
  const path = join(CACHE, `flights-v${VERSION}-${rowCount}.csv`);
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}.part`;
  const file = openSync(draft, 'w');
  const below = source(21);
  const lines = createInterface({ input: createReadStream(airlineCsv(rowCount)) });
  let text = '';
  let isHeader = true;
  for await (const line of lines) {
    if (isHeader) text += `${line},Ticket,Tail,Fare,Price\n`;
    else {
      const tail = below(TAIL_COUNT);
      const price = (below(100_000) + 1) / 100;
      text += `${line},${below(TICKET_COUNT)},${tailName(tail)},${below(FARE_COUNT)},${price}\n`;
    }
    isHeader = false;
    if (text.length > 1 << 20) {
      writeSync(file, text);
      text = '';
    }
  }
  writeSync(file, text);
  closeSync(file);
  renameSync(draft, path);
  return path;
}

/** One row for each fare: `Fare` and `Discount`. */
export function faresCsv() {
  const below = source(22);
  const rows = Array.from({ length: FARE_COUNT }, (_, fare) => `${fare},${below(1000)}`);
  return writeOnce(`fares-v${VERSION}.csv`, () => `Fare,Discount\n${rows.join('\n')}\n`);
}

/** `rowCount` (at most 1M) different tickets in random order: `Ticket` and `Bags`. */
export function ticketsCsv(rowCount, seed) {
  return writeOnce(`tickets-v${VERSION}-${rowCount}-${seed}.csv`, () => {
    const below = source(seed);
    const tickets = Uint32Array.from({ length: TICKET_COUNT }, (_, ticket) => ticket);
    for (let i = TICKET_COUNT - 1; i > 0; i--) {
      const j = below(i + 1);
      const swapped = tickets[i];
      tickets[i] = tickets[j];
      tickets[j] = swapped;
    }
    const rows = Array.from(tickets.subarray(0, rowCount), (ticket) => `${ticket},${below(4)}`);
    return `Ticket,Bags\n${rows.join('\n')}\n`;
  });
}

function writeOnce(name, makeText) {
  const path = join(CACHE, name);
  if (existsSync(path)) return path;
  const draft = `${path}.${process.pid}.part`;
  writeFileSync(draft, makeText());
  renameSync(draft, path);
  return path;
}

function source(seed) {
  const integers = randomIntegers(seed);
  return (count) => Math.floor(integers() * 2 ** -32 * count);
}

function tailName(number) {
  const letters = String.fromCharCode(65 + (number % 26), 65 + ((number * 7) % 26));
  return `N${number}${letters}`;
}
