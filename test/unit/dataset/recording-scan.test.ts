// Recorded rows from bytes to bytes, and from a batch into a sparse dataset, are what they are by way of objects.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeBatch, encodeBatch } from '../../../src/dataset/recorded-batch.ts';
import type { RecordedRow } from '../../../src/dataset/recorded-row.ts';
import { rowFromNdjson, rowsFromJson } from '../../../src/dataset/recording-json.ts';
import { scanRows } from '../../../src/dataset/recording-scan.ts';
import { snapshotRelation } from '../../../src/dataset/snapshot-relation.ts';
import { openSparseWriter } from '../../../src/dataset/sparse-writer.ts';
import { makeQuantiser } from '../../../src/dataset/time-quantum.ts';
import { NO_REMOTE } from '../../../src/remote/remote-access.ts';
import { RowanError } from '../../../src/util/error.ts';
import { JsonSyntaxError, parseJson } from '../../../src/util/exact-json.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import { freeSnapshot } from '../../../src/value/column/snapshot-memory.ts';
import { atomToJsonText } from '../../../src/value/json.ts';
import { cellsOf } from '../../../src/value/value.ts';

const roundedTime = makeQuantiser(1);
const check = () => undefined;
const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });

type Form = 'rows' | 'multirows' | 'ndjson';

/** Rows as texts; bodies that are refused have none. */
function byObjects(form: Form, body: Buffer): string[] | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    const rows =
      form === 'ndjson'
        ? text
            .split('\n')
            .filter((line) => line.trim() !== '')
            .map(rowFromNdjson)
        : [...rowsFromJson(form, parseJson(text))];
    return Array.from(decodeBatch(encodeBatch(rows)), (row) => printed(row, roundedTime));
  } catch (thrown) {
    if (thrown instanceof RowanError || thrown instanceof JsonSyntaxError) return undefined;
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}

function byBytes(form: Form, body: Buffer): string[] | undefined {
  const scanned = scanRows(form, body, { roundedTime, check });
  if (scanned === undefined) return undefined;
  const rows = Array.from(decodeBatch(scanned.batch), (row) => printed(row, (ts) => ts));
  expect(rows).toHaveLength(scanned.rowCount);
  return rows;
}

function printed({ name, cells }: RecordedRow, time: (ts: number) => number): string {
  const texts = cells.map(([c, atom, ts]) => `${c}=${atomToJsonText(atom)}@${time(ts)}`);
  return `${name}: ${texts.join(' ')}`;
}

const name = fc.oneof(
  fc.constantFrom('"a"', '"b"', '"c10"', '"ü"', '"\u{1f600}"', '"x y"'),
  fc.constantFrom('"a.b"', '"\\"q.r\\""', '"\\u0061"', '"a\\\\b"', '7', '["a","b"]', '[1]'),
);
const value = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom('0', '-0', '999999999999999', '-999999999999999', '1234567890123456789', '1e3'),
  fc.constantFrom('-4294967296', '4294967295', '-4294967297', '1.0', '-2.5', '1E-7', '0.1'),
  fc.constantFrom('null', 'true', 'false', '""', '"text"', '"ü\\n"', '"\\ud800"', '"a,b]"'),
  fc.constantFrom('{"ts":5}', '{"num":"NaN"}', '{"blob":[1,"ab"]}', '{"path":["a","b"]}'),
);
const ts = fc.constantFrom(
  '0',
  '1.4',
  '-7',
  '"2020-01-01"',
  '{"ts":"1970-01-01T00:00:05Z"}',
  '"Inf"',
);
const space = fc.constantFrom('', '', '', ' ', '\t', ' \r ');
const cell = fc
  .tuple(name, value, ts, space)
  .map(([n, v, t, s]) => `[${s}${n}${s},${s}${v}${s},${s}${t}${s}]`);
const cells = fc.array(cell, { maxLength: 4 }).map((all) => `[${all.join(',')}]`);
const pair = fc.tuple(name, cells, space).map(([n, c, s]) => `[${s}${n}${s},${s}${c}]`);
const object = fc
  .tuple(name, cells, space)
  .map(([n, c, s]) => `{${s}"rowName"${s}:${n},${s}"columns":${s}${c}${s}}`);
const body: fc.Arbitrary<{ form: Form; text: string }> = fc.oneof(
  fc.record({ form: fc.constant<Form>('rows'), text: object }),
  fc.record({
    form: fc.constant<Form>('multirows'),
    text: fc.array(pair, { maxLength: 4 }).map((rows) => ` [${rows.join(',\n')}]\n`),
  }),
  fc.record({
    form: fc.constant<Form>('ndjson'),
    text: fc
      .array(fc.oneof(pair, object, fc.constant('')), { maxLength: 4 })
      .map((l) => l.join('\r\n')),
  }),
);

test('bodies that are as they should be give the same rows', () => {
  fc.assert(
    fc.property(body, ({ form, text }) => {
      const bytes = Buffer.from(text);
      const rows = byBytes(form, bytes);
      expect(rows).toBeDefined();
      expect(rows).toEqual(byObjects(form, bytes));
    }),
    { numRuns: 300 },
  );
});

test('other bodies are left to the parser that refuses them, or give the same rows', () => {
  const change = fc.tuple(
    fc.nat(),
    fc.constantFrom('', '"', ',', ']', '[', '}', '0', '.', '\\', '\n', '\xff'),
  );
  fc.assert(
    fc.property(body, change, ({ form, text }, [at, put]) => {
      const whole = Buffer.from(text);
      const place = whole.length === 0 ? 0 : at % whole.length;
      const parts = [
        whole.subarray(0, place),
        Buffer.from(put, 'latin1'),
        whole.subarray(place + 1),
      ];
      const bytes = Buffer.concat(parts);
      const rows = byBytes(form, bytes);
      if (rows !== undefined) expect(rows).toEqual(byObjects(form, bytes));
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['multirows', '[["r",[["a",1,]]]]'],
  ['multirows', '[["r",[["a",,0]]]]'],
  ['multirows', '[["r",[["a",01,0]]]]'],
  ['multirows', '[["r",[["",1,0]]]] x'],
  ['multirows', '[[[],[]]]'],
  ['rows', '{"rowName":"r","columns":[],"rowName":"s"}'],
  ['ndjson', '["r",\n[]]'],
] as const)('%s %s is left to the parser', (form, text) => {
  expect(byBytes(form, Buffer.from(text))).toBeUndefined();
});

test('a scan ends when the caller says so', () => {
  const row = `["r",[${Array.from({ length: 5000 }, (_, i) => `["c${i}",1,0]`).join(',')}]]`;
  const cancelled = new Error('cancelled');
  const options = {
    roundedTime,
    check() {
      throw cancelled;
    },
  };
  expect(() => scanRows('multirows', Buffer.from(`[${row}]`), options)).toThrow(cancelled);
});

test('a batch makes the dataset that its rows make', () => {
  const twoBodies = fc.array(fc.array(pair, { maxLength: 4 }), { minLength: 2, maxLength: 2 });
  fc.assert(
    fc.property(twoBodies, (bodies) => {
      const batches = bodies.map((rows) =>
        encodeBatch([...rowsFromJson('multirows', parseJson(`[${rows.join(',')}]`))]),
      );
      const write = (byBatch: boolean): string[] => {
        let snapshot: ReturnType<ReturnType<typeof openSparseWriter>['finish']> | undefined;
        for (const batch of batches) {
          const previous = snapshot && { snapshot, relation: snapshotRelation(snapshot, arenas) };
          const context = {
            params: {},
            previous,
            arenas,
            remote: NO_REMOTE,
            isFirst: previous === undefined,
            checkCancelled: check,
          };
          const writer = openSparseWriter(context);
          if (byBatch) writer.addBatch?.(batch);
          else for (const row of decodeBatch(batch)) writer.add(row);
          const next = writer.finish(null);
          if (snapshot !== undefined) freeSnapshot(snapshot, arenas);
          snapshot = next;
        }
        if (snapshot === undefined) return [];
        const rows = Array.from(snapshotRelation(snapshot, arenas).scan('all'), (row) => {
          const all = cellsOf(row.row).map((c) => `${c.path}=${atomToJsonText(c.atom)}@${c.ts}`);
          return `${row.name}: ${all.join(' ')}`;
        });
        freeSnapshot(snapshot, arenas);
        return rows;
      };
      expect(write(true)).toEqual(write(false));
    }),
    { numRuns: 100 },
  );
});
