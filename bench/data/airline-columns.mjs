// The airline-like table as learners take it: codes over dictionaries, numbers, labels.

import { readFileSync } from 'node:fs';
import { airlineCsv } from './airline.mjs';

const TEXT_COLUMNS = [0, 1, 2, 4, 5, 6];
const NUMBER_COLUMNS = [3, 7];
const LABEL_COLUMN = 8;

/** @returns sources in the order of the columns, and 1 for late flights */
export function airlineColumns(rowCount, seed = 1) {
  const text = readFileSync(airlineCsv(rowCount, seed), 'latin1');
  const names = text.slice(0, text.indexOf('\n')).split(',');
  const columns = names.map((_, column) => ({
    codes: new Uint16Array(TEXT_COLUMNS.includes(column) ? rowCount : 0),
    numbers: new Float64Array(NUMBER_COLUMNS.includes(column) ? rowCount : 0),
    entries: [],
    codeOf: new Map(),
  }));
  const labels = new Uint8Array(rowCount);
  let at = text.indexOf('\n') + 1;
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < names.length; column++) {
      const isLast = column === names.length - 1;
      const end = text.indexOf(isLast ? '\n' : ',', at);
      const cell = text.slice(at, end);
      at = end + 1;
      if (column === LABEL_COLUMN) labels[row] = cell === 'Y' ? 1 : 0;
      else if (TEXT_COLUMNS.includes(column))
        columns[column].codes[row] = code(columns[column], cell);
      else columns[column].numbers[row] = Number(cell);
    }
  }
  const sources = columns
    .slice(0, LABEL_COLUMN)
    .map(({ codes, numbers, entries }, column) =>
      TEXT_COLUMNS.includes(column)
        ? { kind: 'codes', name: names[column], pieces: [codes], entries }
        : { kind: 'numbers', name: names[column], pieces: [{ values: numbers }] },
    );
  return { sources, labels };
}

function code(column, cell) {
  let code = column.codeOf.get(cell);
  if (code === undefined) {
    column.entries.push(cell);
    code = column.entries.length;
    column.codeOf.set(cell, code);
  }
  return code;
}
