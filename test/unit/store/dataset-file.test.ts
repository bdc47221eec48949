import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { readPagedSpan } from '../../../src/store/arrow-values.ts';
import {
  openDatasetFile,
  readDatasetColumns,
  readDatasetFile,
  writeDatasetFile,
} from '../../../src/store/dataset-file.ts';
import { type FileSystem, nodeFileSystem } from '../../../src/store/durable-file.ts';
import { failure } from '../../../src/util/error.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import {
  isInFile,
  loadFileSpan,
  rowsOfFileSpan,
  useFileSpanReader,
} from '../../../src/value/column/file-span.ts';
import type { ColumnarSnapshot, Snapshot } from '../../../src/value/column/snapshot.ts';
import { freeSnapshot } from '../../../src/value/column/snapshot-memory.ts';
import { Path } from '../../../src/value/path.ts';
import { Timestamp } from '../../../src/value/timestamp.ts';
import {
  buildSparse,
  buildTable,
  type PlainRow,
  plainRows,
  snapshotTexts,
} from '../../support/snapshots.ts';

const arenas = ArenaSet.create({ budgetBytes: 500e6, arenaPageCount: 8192 });
useFileSpanReader(readPagedSpan);
const directory = mkdtempSync(join(tmpdir(), 'rowan-dataset-file-'));
const path = join(directory, 'dataset.arrow');

afterEach(() => expect(arenas.usedBytes).toBe(0));
afterAll(() => rmSync(directory, { recursive: true }));

function expectRoundTrip(snapshot: Snapshot): void {
  writeDatasetFile(path, snapshot, arenas);
  const read = readDatasetFile(path, arenas);
  expect(snapshotTexts(read, arenas)).toEqual(snapshotTexts(snapshot, arenas));
  expect(read.id).not.toBe(snapshot.id);
  freeSnapshot(read, arenas);
  const parts = readInParts(Number.POSITIVE_INFINITY);
  expect(snapshotTexts(parts, arenas)).toEqual(snapshotTexts(snapshot, arenas));
  freeSnapshot(parts, arenas);
  // A sparse chunk that stays in the file has the form that it has there.
  const paged = readInParts(0);
  expect(withoutChunkForms(paged)).toEqual(withoutChunkForms(snapshot));
  if (paged.layout === 'columnar') expectRowsAlone(paged);
  freeSnapshot(paged, arenas);
  freeSnapshot(snapshot, arenas);
}

/** Some rows of a chunk that stays in the file are those of the whole chunk. */
function expectRowsAlone({ columns }: ColumnarSnapshot): void {
  for (const chunk of columns.flatMap(({ chunks }) => chunks)) {
    if (!('data' in chunk) || !isInFile(chunk.data)) continue;
    const { data, kind, rowCount } = chunk;
    const width = kind === 'codes' ? chunk.width : kind === 'int32' ? 4 : 8;
    const whole = Buffer.from(loadFileSpan(data));
    for (const from of [0, 8, 24].filter((row) => row < rowCount)) {
      const rows = rowsOfFileSpan(data, { from, to: rowCount }, width);
      expect(Buffer.from(loadFileSpan(rows)).equals(whole.subarray(from * width))).toBe(true);
    }
  }
}

function withoutChunkForms(snapshot: Snapshot): string[] {
  return snapshotTexts(snapshot, arenas).map((line) => line.replace(/ null, .*/, ''));
}

/**
 * The file opened, two columns read together, and each other one on its own, the last one first.
 * @param roomBytes 0: chunks stay in the file
 */
function readInParts(roomBytes: number): Snapshot {
  const opened = openDatasetFile(path, arenas);
  if (opened.layout === 'sparse') return opened;
  expect(opened.columns.every(({ isAbsent, chunks }) => isAbsent && chunks.length === 0)).toBe(
    true,
  );
  const numbers = [...opened.columns.keys()];
  const first = readDatasetColumns(
    path,
    numbers.slice(0, 2),
    { sizeBytes: Number.POSITIVE_INFINITY, roomBytes },
    arenas,
  );
  expect(first.map(({ number }) => number)).toEqual(numbers.slice(0, 2));
  const others = numbers
    .slice(2)
    .reverse()
    .flatMap((number) => readDatasetColumns(path, [number], { sizeBytes: 0, roomBytes }, arenas))
    .reverse();
  const columns = [...first, ...others].map(({ column }) => column);
  return { ...opened, columns };
}

/** What other tools see. */
function openAsArrow() {
  return tableFromIPC(readFileSync(path));
}

const rows: PlainRow[] = [
  [
    Path.of('first'),
    [
      [Path.of('count'), 7, 0],
      [Path.parse('a.b'), 1.5, 0],
      [Path.of('word'), 'häuser', 0],
      [Path.of('when'), new Timestamp(1.25), 0],
      [Path.of('any'), 'text', 0],
    ],
  ],
  [
    Path.of('second'),
    [
      [Path.of('word'), 'b', 0],
      [Path.of('any'), 3, 0],
    ],
  ],
  [Path.of('third'), [[Path.of('word'), 'häuser', 0]]],
];

describe('a columnar file', () => {
  test('brings every snapshot back exactly', () => {
    fc.assert(
      fc.property(plainRows, fc.integer({ min: 1, max: 40 }), (rows, chunkRowCount) => {
        expectRoundTrip(buildTable(rows, arenas, chunkRowCount));
      }),
      { numRuns: 150 },
    );
  });

  test('brings a column of one number beyond 2^53 back as that number', () => {
    const row: PlainRow = [Path.of('a'), [[Path.of('x'), 36025719789350152, 0]]];
    expectRoundTrip(buildTable([row], arenas));
  });

  test('brings sparse chunks and wide codes back', () => {
    const rows = Array.from({ length: 70_000 }, (_, i): PlainRow => {
      const cells: [Path, string | number, number][] = [[Path.of('wide'), `t${i}`, i]];
      if (i % 500 === 0) {
        cells.push([Path.of('rare'), i, i], [Path.of('rare text'), `r${i % 1500}`, i]);
      }
      return [Path.of(`row ${i}`), cells];
    });
    expectRoundTrip(buildTable(rows, arenas));
  });

  test('opens in Arrow readers as ordinary columns', () => {
    const snapshot = buildTable(rows, arenas);
    writeDatasetFile(path, snapshot, arenas);
    const table = openAsArrow();
    expect(table.schema.fields.map(({ name, type }) => `${name}: ${type}`)).toEqual([
      '_rowName: Utf8',
      'count: Int32',
      'a.b: Float64',
      'word: Dictionary<Int8, Utf8>',
      'when: Timestamp<MICROSECOND, UTC>',
      'any: Dictionary<Int8, Utf8>',
    ]);
    expect(table.schema.fields[5]?.metadata.get('rowan.mixed')).toBe('true');
    expect(table.toArray().map((row) => ({ ...row.toJSON() }))).toEqual([
      { _rowName: 'first', count: 7, 'a.b': 1.5, word: 'häuser', when: 1250, any: '"text"' },
      { _rowName: 'second', count: null, 'a.b': null, word: 'b', when: null, any: '3' },
      { _rowName: 'third', count: null, 'a.b': null, word: 'häuser', when: null, any: null },
    ]);
    freeSnapshot(snapshot, arenas);
  });
});

describe('a sparse file', () => {
  test('brings every snapshot back exactly', () => {
    fc.assert(
      fc.property(plainRows, (rows) => expectRoundTrip(buildSparse(rows, arenas))),
      { numRuns: 150 },
    );
  });

  test('opens in Arrow readers as a row for each point', () => {
    const snapshot = buildSparse(rows, arenas);
    writeDatasetFile(path, snapshot, arenas);
    const points = openAsArrow()
      .toArray()
      .map(({ _rowName, _columnName, _payload, _text }) => [
        _rowName,
        _columnName,
        _text ?? _payload,
      ]);
    expect(points.slice(0, 3)).toEqual([
      ['first', 'a.b', 4609434218613702656n],
      ['first', 'any', 'text'],
      ['first', 'count', 7n],
    ]);
    freeSnapshot(snapshot, arenas);
  });
});

describe('a damaged file', () => {
  const snapshot = () => buildTable(rows, arenas);

  test.each([0, 5, 40, 300, 0.5, 0.9, -1])('cut at %d is reported by name', (place) => {
    const whole = snapshot();
    writeDatasetFile(path, whole, arenas);
    freeSnapshot(whole, arenas);
    const { length } = readFileSync(path);
    truncateSync(path, place < 0 ? length + place : place < 1 ? Math.floor(length * place) : place);
    expect(() => readDatasetFile(path, arenas)).toThrow(
      expect.objectContaining({
        code: 'DATA_ERROR',
        message: expect.stringContaining('dataset file "dataset.arrow" cannot be read'),
        details: { file: path },
      }),
    );
  });

  test('never yields other content, whichever byte changed', () => {
    const whole = snapshot();
    writeDatasetFile(path, whole, arenas);
    const texts = snapshotTexts(whole, arenas);
    const bytes = readFileSync(path);
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (place, change) => {
        const changed = Buffer.from(bytes);
        changed[place] = (changed[place] as number) ^ change;
        writeFileSync(path, changed);
        try {
          const read = readDatasetFile(path, arenas);
          expect(snapshotTexts(read, arenas)).toEqual(texts);
          freeSnapshot(read, arenas);
        } catch (error) {
          expect(error).toMatchObject({ code: 'DATA_ERROR' });
        }
      }),
      { numRuns: 400 },
    );
    freeSnapshot(whole, arenas);
  });

  test('that is missing is reported by name', () => {
    expect(() => readDatasetFile(join(directory, 'none.arrow'), arenas)).toThrow(
      'dataset file "none.arrow" cannot be read: it is missing',
    );
  });
});

describe('writing', () => {
  /** A disk that takes so many bytes and a few at a time. */
  function smallDisk(sizeBytes: number): FileSystem {
    let left = sizeBytes;
    return {
      ...nodeFileSystem,
      write(file, buffers) {
        const bytes = Buffer.concat(buffers).subarray(0, 100);
        if (bytes.length > left) {
          throw Object.assign(new Error('ENOSPC: no space left on device, write'), {
            code: 'ENOSPC',
          });
        }
        left -= bytes.length;
        return nodeFileSystem.write(file, [bytes]);
      },
    };
  }

  test('goes on after short writes', () => {
    const snapshot = buildTable(rows, arenas);
    writeDatasetFile(path, snapshot, arenas, smallDisk(1e6));
    const read = readDatasetFile(path, arenas);
    expect(snapshotTexts(read, arenas)).toEqual(snapshotTexts(snapshot, arenas));
    freeSnapshot(read, arenas);
    freeSnapshot(snapshot, arenas);
  });

  test('to a full disk keeps the old file and leaves no other', () => {
    const first = buildTable(rows.slice(0, 1), arenas);
    writeDatasetFile(path, first, arenas);
    const before = readFileSync(path);
    const second = buildTable(rows, arenas);
    expect(() => writeDatasetFile(path, second, arenas, smallDisk(1000))).toThrow(
      expect.objectContaining({
        code: 'DISK_FULL',
        httpCode: 507,
        message: expect.stringContaining(path),
      }),
    );
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(directory)).toEqual(['dataset.arrow']);
    freeSnapshot(first, arenas);
    freeSnapshot(second, arenas);
  });

  const many = Array.from({ length: 40_000 }, (_, row): PlainRow => {
    const cells: PlainRow[1] = [
      [Path.of('count'), row, row],
      [Path.of('word'), `word ${row}`, row],
      [Path.of('mixed'), row % 2 === 0 ? row : new Timestamp(row), row],
    ];
    return [Path.of(String(2 * row)), cells];
  });

  test.each([
    ['columnar', buildTable, 15],
    ['sparse', buildSparse, 15],
  ] as const)(
    'of a %s snapshot is left at any look, and nothing stays',
    (_, build, lookCountMin) => {
      const snapshot = build(many, arenas);
      const writeAndCount = (lookMax: number): number => {
        let lookCount = 0;
        const look = () => {
          if (++lookCount === lookMax) throw failure('CANCELLED', 'the task was cancelled');
        };
        const write = () => writeDatasetFile(path, snapshot, arenas, nodeFileSystem, look);
        if (lookMax > 0) expect(write).toThrow('the task was cancelled');
        else write();
        return lookCount;
      };
      const before = readFileSync(path);
      const lookCount = writeAndCount(0);
      expect(lookCount).toBeGreaterThanOrEqual(lookCountMin);
      writeFileSync(path, before);
      for (const lookMax of [1, 2, lookCount >> 1, lookCount]) {
        expect(writeAndCount(lookMax)).toBe(lookMax);
        expect(readFileSync(path)).toEqual(before);
        expect(readdirSync(directory)).toEqual(['dataset.arrow']);
      }
      freeSnapshot(snapshot, arenas);
    },
  );

  test('syncs the file before it takes its name, and the directory after', () => {
    const calls: string[] = [];
    const files: FileSystem = {
      ...nodeFileSystem,
      sync(file) {
        calls.push('sync');
        nodeFileSystem.sync(file);
      },
      rename(from, to) {
        calls.push('rename');
        nodeFileSystem.rename(from, to);
      },
    };
    const snapshot = buildTable(rows, arenas);
    writeDatasetFile(path, snapshot, arenas, files);
    expect(calls).toEqual(['sync', 'rename', 'sync']);
    freeSnapshot(snapshot, arenas);
  });
});
