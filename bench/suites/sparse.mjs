// A sparse dataset: as many distinct columns as rows, 20 cells a row. Nobody to compare with: what
// is measured are times, and bytes of memory a cell.
//
// `--rows` rows are recorded through the API as a client would, which takes most of the time; by
// default 200,000 are, since the whole result of a transposition is held in memory.

import { open } from '../../build/js/index.js';
import { snapshotSize } from '../../build/js/value/column/snapshot-memory.js';
import { randomIntegers } from '../data/random.mjs';

export const description = 'a sparse dataset of 20 cells a row and as many columns as rows';

const CELL_COUNT = 20;
const ROW_COUNT_MAX = 200_000;
const BATCH_ROW_COUNT = 5000;
const CELL_SIZE_MAX = 24;

export async function prepare({ rowCount: wanted }) {
  const rowCount = process.argv.includes('--rows') ? wanted : Math.min(wanted, ROW_COUNT_MAX);
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
  const isMet = bytesPerCell <= CELL_SIZE_MAX ? 'met' : 'MISSED';
  console.log(
    `  ${bytesPerCell.toFixed(1)} bytes a cell in memory (goal ${CELL_SIZE_MAX}: ${isMet})`,
  );
  const query = (name, sql) => ({
    name,
    contenders: { rowan: () => rowan.query(sql, { rowNames: false }) },
  });
  return {
    measures: [
      query('count of cells', 'SELECT sum(columnCount()) AS n FROM cells'),
      query(
        'count({*}) of every column',
        'SELECT count(*) AS n FROM (SELECT count({*}) AS * FROM cells)',
      ),
      query('one column', 'SELECT sum("c7") AS s FROM cells'),
      query(
        'columns chosen by COLUMN EXPR',
        "SELECT count(*) AS n FROM (SELECT COLUMN EXPR (WHERE columnName() LIKE 'c99%') FROM cells)",
      ),
      query('columns of one row', "SELECT * FROM cells WHERE rowName() = '77'"),
      query('transpose, rows counted', 'SELECT count(*) AS n FROM transpose(cells)'),
    ],
    close: () => rowan.close(),
  };
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
