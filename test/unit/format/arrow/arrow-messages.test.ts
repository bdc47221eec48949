import {
  closeSync,
  fstatSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RecordBatchReader, Table, tableFromArrays, tableToIPC } from 'apache-arrow';
import { afterAll, describe, expect, test } from 'vitest';
import { arrowMessages } from '../../../../src/format/arrow/arrow-messages.ts';

const BATCH_COUNT = 10;
const ROW_COUNT = 1000;

const folder = mkdtempSync(join(tmpdir(), 'rowan-arrow-'));
afterAll(() => rmSync(folder, { recursive: true }));

function batches(): Table {
  return new Table(
    Array.from({ length: BATCH_COUNT }, (_, batch) => {
      const values = Float64Array.from({ length: ROW_COUNT }, (_, row) => batch * ROW_COUNT + row);
      return tableFromArrays({ x: values }).batches[0];
    }).filter((batch) => batch !== undefined),
  );
}

/** Bytes that were read from the file until each batch, and the batch's first value. */
function* readings(path: string): Generator<{ byteCount: number; first: number }> {
  const descriptor = openSync(path, 'r');
  let byteCount = 0;
  function* counted(): Generator<Uint8Array> {
    for (const bytes of arrowMessages({ descriptor, sizeBytes: fstatSync(descriptor).size })) {
      byteCount += bytes.length;
      yield bytes;
    }
  }
  try {
    for (const batch of RecordBatchReader.from(counted())) {
      yield { byteCount, first: batch.getChildAt(0)?.get(0) };
    }
  } finally {
    closeSync(descriptor);
  }
}

describe.each(['file', 'stream'] as const)('messages of an Arrow %s', (form) => {
  test('are read when their batch is asked for', () => {
    const path = join(folder, `whole.${form}`);
    writeFileSync(path, tableToIPC(batches(), form));
    const read = [...readings(path)];
    expect(read.map(({ first }) => first)).toEqual(
      Array.from({ length: BATCH_COUNT }, (_, batch) => batch * ROW_COUNT),
    );
    for (const [batch, { byteCount }] of read.entries()) {
      expect(byteCount).toBeLessThan((batch + 1.5) * ROW_COUNT * 8);
    }
  });

  test('that are cut are an error', () => {
    const path = join(folder, `cut.${form}`);
    const bytes = tableToIPC(batches(), form);
    writeFileSync(path, bytes);
    truncateSync(path, bytes.length / 2);
    expect(() => [...readings(path)]).toThrow(form === 'file' ? 'its end is not' : 'that is cut');
  });
});
