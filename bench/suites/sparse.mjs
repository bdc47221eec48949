// A sparse dataset: as many distinct columns as rows, 20 cells a row. Nobody to compare with: what
// is measured are times, and bytes of memory a cell.
//
// Rows are recorded through the API as a client would; a million of them, or `--rows`, where the suite
// is asked for by name. Among all suites it has a tenth of that.

import { open } from '../../build/js/index.js';
import { snapshotSize } from '../../build/js/value/column/snapshot-memory.js';
import { randomIntegers } from '../data/random.mjs';

export const description = 'a sparse dataset of 20 cells a row and as many columns as rows';

const CELL_COUNT = 20;
/** Limits for a million rows, in seconds and MB; they shrink with the number of rows. */
const FULL_ROW_COUNT = 1_000_000;
const GOAL = { record: 30, count: 2, transpose: 20, peakMegabytes: 2000 };
const BATCH_ROW_COUNT = 5000;
const CELL_SIZE_MAX = 24;

export async function prepare({ rowCount: wanted }) {
  const isNamed = process.argv.includes('sparse') || process.argv.includes('--rows');
  const rowCount = isNamed ? wanted : Math.min(wanted, FULL_ROW_COUNT / 10);
  const rowan = await open({ dataDir: null });
  const start = performance.now();
  const dataset = await rowan.createDataset({ id: 'cells', type: 'sparse.mutable' });
  for (let row = 0; row < rowCount; row += BATCH_ROW_COUNT) {
    await dataset.recordRows(makeRows(row, Math.min(rowCount, row + BATCH_ROW_COUNT), rowCount));
  }
  await dataset.commit();
  const loadSeconds = (performance.now() - start) / 1000;
  const snapshot = rowan.service.datasets.get('cells').content.snapshot;
  const bytesPerCell = snapshotSize(snapshot) / (rowCount * CELL_COUNT);
  console.log(
    `  ${rowCount} rows, ${snapshot.columnCount} columns, recorded and committed in ` +
      `${loadSeconds.toFixed(1)} s (${Math.round((rowCount * CELL_COUNT) / loadSeconds)} cells/s)`,
  );
  report('bytes a cell in memory', bytesPerCell, CELL_SIZE_MAX);
  const share = rowCount / FULL_ROW_COUNT;
  report('s to record and commit', loadSeconds, GOAL.record * share);
  for (const [name, sql, goal] of [
    ['count({*})', COUNT_OF_COLUMNS, GOAL.count],
    ['the transposition', ROWS_OF_TRANSPOSITION, GOAL.transpose],
  ]) {
    const begun = performance.now();
    await rowan.query(sql, { rowNames: false });
    report(`s for ${name}, the first time`, (performance.now() - begun) / 1000, goal * share);
  }
  report('MB at most in memory, all of the process', peakMegabytes(), GOAL.peakMegabytes);
  const query = (name, sql) => ({
    name,
    contenders: { rowan: () => rowan.query(sql, { rowNames: false }) },
  });
  return {
    measures: [
      query('count of cells', 'SELECT sum(columnCount()) AS n FROM cells'),
      query('count({*}) of every column', COUNT_OF_COLUMNS),
      query('one column', 'SELECT sum("c7") AS s FROM cells'),
      query(
        'columns chosen by COLUMN EXPR',
        "SELECT count(*) AS n FROM (SELECT COLUMN EXPR (WHERE columnName() LIKE 'c99%') FROM cells)",
      ),
      query('columns of one row', "SELECT * FROM cells WHERE rowName() = '77'"),
      query('transpose, rows counted', ROWS_OF_TRANSPOSITION),
      query('transpose, cells counted', 'SELECT sum(columnCount()) AS n FROM transpose(cells)'),
    ],
    close: () => rowan.close(),
  };
}

const COUNT_OF_COLUMNS = 'SELECT count(*) AS n FROM (SELECT count({*}) AS * FROM cells)';
const ROWS_OF_TRANSPOSITION = 'SELECT count(*) AS n FROM transpose(cells)';

function report(name, value, goal) {
  const isMet = value <= goal ? 'met' : 'MISSED';
  console.log(`  ${value.toFixed(1)} ${name} (goal ${Number(goal.toFixed(1))}: ${isMet})`);
}

function peakMegabytes() {
  return process.resourceUsage().maxRSS / 1000;
}

/** Rows `from` to `to - 1`; their cells lie in columns chosen at random. */
function makeRows(from, to, columnCount) {
  const integers = randomIntegers(from + 1);
  const below = (count) => Math.floor(integers() * 2 ** -32 * count);
  const rows = [];
  for (let row = from; row < to; row++) {
    const cells = new Map();
    while (cells.size < CELL_COUNT) {
      const column = `c${below(columnCount)}`;
      if (!cells.has(column)) cells.set(column, [column, below(1000), 0]);
    }
    rows.push([String(row), [...cells.values()]]);
  }
  return rows;
}
