// Snapshots in memory and on disk: building sparse rows, writing and reading dataset files, and the
// catalogue's commits. The peers are what one would write with the library or the system alone.

import {
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { readDatasetFile, writeDatasetFile } from '../../build/js/store/dataset-file.js';
import { openCatalogue } from '../../build/js/store/open-catalogue.js';
import { ArenaSet } from '../../build/js/value/column/arena-set.js';
import { ColumnBuilder } from '../../build/js/value/column/column-builder.js';
import { freeSnapshot, snapshotSize } from '../../build/js/value/column/snapshot-memory.js';
import { SparseBuilder } from '../../build/js/value/column/sparse-builder.js';
import { chunkRowCounts } from '../../build/js/value/column/table-builder.js';
import { Path } from '../../build/js/value/path.js';
import { randomUniforms } from '../data/random.mjs';

export const description = 'sparse rows, dataset files and the catalogue';

const CELLS_A_ROW = 20;
const COMMIT_COUNT = 100;

export async function prepare({ rowCount }) {
  const arenas = ArenaSet.create();
  const directory = mkdtempSync(join(tmpdir(), 'rowan-bench-store-'));
  const file = join(directory, 'dataset.arrow');
  const table = makeTable(arenas, rowCount);
  writeDatasetFile(file, table, arenas);
  const catalogue = await openCatalogue({ directory: join(directory, 'data') });
  const columns = Array.from({ length: rowCount / 10 }, (_, i) => Path.of(`feature ${i}`));
  return {
    measures: [
      {
        name: `sparse snapshot, ${CELLS_A_ROW} cells a row, one column for ten rows`,
        contenders: {
          rowan: () => buildSparse(arenas, rowCount, columns),
          maps: () => buildMaps(rowCount, columns),
        },
        agree: (ours, theirs) => ours === theirs,
      },
      {
        name: 'write a dataset file, synced',
        contenders: {
          rowan: () => writeDatasetFile(file, table, arenas),
          'plain bytes': () => writePlain(join(directory, 'plain'), snapshotSize(table)),
        },
      },
      {
        name: 'read a dataset file',
        contenders: {
          rowan: () => {
            const read = readDatasetFile(file, arenas);
            freeSnapshot(read, arenas);
            return read.rowCount;
          },
          'apache-arrow, first touch only': () => tableFromIPC(readFileSync(file)).numRows,
        },
        agree: (ours, theirs) => ours === theirs,
      },
      {
        name: `${COMMIT_COUNT} entries of the write log, one after the other`,
        contenders: {
          rowan: async () => {
            for (let i = 0; i < COMMIT_COUNT; i++)
              await catalogue.append('log', new Uint8Array(1000));
          },
          'write and fsync': () => appendPlain(join(directory, 'log')),
        },
      },
    ],
    close: async () => {
      await catalogue.close();
      rmSync(directory, { recursive: true });
    },
  };
}

function makeTable(arenas, rowCount) {
  const uniform = randomUniforms(1);
  const build = (name, atom) => {
    const builder = new ColumnBuilder([name], arenas);
    for (let row = 0; row < rowCount; row++) builder.append(atom());
    return builder.seal();
  };
  const categories = [12, 31, 7, 22, 290, 290, 2].map((count, i) => {
    const texts = Array.from({ length: count }, (_, k) => `category ${k}`);
    return build(`category ${i}`, () => texts[Math.floor(uniform() * count)]);
  });
  const numbers = ['time', 'distance'].map((name) =>
    build(name, () => Math.floor(uniform() * 3000)),
  );
  return {
    layout: 'columnar',
    id: arenas.nextId(),
    rowCount,
    chunkRowCounts: chunkRowCounts(rowCount),
    columns: [...categories, ...numbers],
    rowNames: { kind: 'sequence', first: 1 },
    timestamps: { kind: 'constant', ts: 0 },
  };
}

/** Column k of a row; the same for both contenders. */
function columnOf(row, k, count) {
  return (row * 31 + k * 7919) % count;
}

function buildSparse(arenas, rowCount, columns) {
  const builder = new SparseBuilder(arenas);
  for (let row = 0; row < rowCount; row++) {
    builder.beginRow(Path.of(String(row)));
    for (let k = 0; k < CELLS_A_ROW; k++) {
      builder.addCell(builder.columnId(columns[columnOf(row, k, columns.length)]), k, 0);
    }
  }
  const snapshot = builder.seal();
  freeSnapshot(snapshot, arenas);
  return snapshot.pointCount;
}

function buildMaps(rowCount, columns) {
  const rows = new Map();
  let count = 0;
  for (let row = 0; row < rowCount; row++) {
    const cells = new Map();
    for (let k = 0; k < CELLS_A_ROW; k++) {
      cells.set(columns[columnOf(row, k, columns.length)].toString(), k);
    }
    rows.set(String(row), cells);
    count += cells.size;
  }
  return count;
}

function writePlain(path, sizeBytes) {
  const file = openSync(path, 'w');
  const block = new Uint8Array(2 ** 20);
  for (let left = sizeBytes; left > 0; left -= block.length) writeSync(file, block);
  fsyncSync(file);
  closeSync(file);
}

function appendPlain(path) {
  const file = openSync(path, 'a');
  const entry = new Uint8Array(1000);
  for (let i = 0; i < COMMIT_COUNT; i++) {
    writeSync(file, entry);
    fsyncSync(file);
  }
  closeSync(file);
}
