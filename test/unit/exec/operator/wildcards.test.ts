// Wildcards over tables with nulls are written from columns, with the bytes that rows would have.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../../src/exec/operator/executor.ts';
import { type FormatName, loadFormat } from '../../../../src/exec/output/format.ts';
import { DEFAULT_OUTPUT, type OutputOptions } from '../../../../src/exec/output/options.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import { writeQuery } from '../../../../src/exec/write-query.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import type { Snapshot } from '../../../../src/value/column/snapshot.ts';
import { freeSnapshot } from '../../../../src/value/column/snapshot-memory.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';
import { turnTaking } from '../../../support/vector-queries.ts';

const FORMATS: readonly FormatName[] = [
  ...(['aos', 'soa', 'sparse', 'full', 'table', 'csv', 'ndjson', 'arrow'] as const),
];
await loadFormat('arrow');

const arenas = ArenaSet.create({ budgetBytes: 1 << 30, arenaPageCount: 16_384 });
useArenas(arenas);
const TS = 1_420_070_400;
/** Small chunks, so that each table has several, some of them without values. */
const CHUNK_ROW_COUNT = 8;

type TableRow = Readonly<Record<string, Atom>>;

const tableRow: fc.Arbitrary<TableRow> = fc.record(
  {
    b: fc.oneof(fc.integer({ min: -2, max: 2 }), fc.constantFrom(-0, 2 ** 53, Number.NaN, 0.5)),
    i: fc.integer({ min: -2, max: 9 }),
    'n.x': fc.constantFrom('', 'a', 'a "quoted", one', 'zoé'),
    'n.y': fc.constantFrom<Atom>(1, 'x', 2n ** 63n),
    t: fc.integer({ min: 0, max: 3 }).map((day) => new Timestamp(TS + day * 86_400)),
    nx: fc.constantFrom('p', 'q'),
  },
  { requiredKeys: [] },
);

/** Some columns begin late, end early, or have no value in any row. */
const table = fc
  .tuple(
    fc.array(tableRow, { minLength: 1, maxLength: 40 }),
    fc.dictionary(fc.constantFrom('b', 'i', 'n.x', 'n.y', 't', 'nx'), fc.nat({ max: 40 })),
  )
  .map(([rows, starts]) =>
    rows.map((row, index): TableRow => {
      const kept = Object.entries(row).filter(([name]) => index >= (starts[name] ?? 0));
      return { ...Object.fromEntries(kept), never: null, k: index % 3 };
    }),
  );

const query = fc
  .tuple(
    fc.constantFrom(
      ...['*', 't.*', '* EXCLUDING (i)', '* EXCLUDING (n*)', 'n*', 'n.*', 'n.* AS m.*', 'n* AS k*'],
      ...['k* AS *', 'i* AS j*', 'never*', '* EXCLUDING (n.y, k)'],
    ),
    fc.constantFrom('', 'WHERE k = 1', 'WHERE i > 0', "WHERE n.x = 'a'", 'WHERE k > 5'),
    fc.constantFrom('', 'LIMIT 3', 'LIMIT 5 OFFSET 7', 'OFFSET 12', 'LIMIT 0', 'OFFSET 1000'),
  )
  .map(([list, filter, range]) => `SELECT ${list} FROM d AS t ${filter} ${range}`.trim());

const output: fc.Arbitrary<OutputOptions> = fc
  .record({
    headers: fc.boolean(),
    rowNames: fc.boolean(),
    rowHashes: fc.boolean(),
    sortColumns: fc.boolean(),
    timestamps: fc.constantFrom('object' as const, 'iso' as const),
  })
  .map((options) => ({ ...DEFAULT_OUTPUT, ...options }));

function tableOf(rows: readonly TableRow[]): Snapshot {
  const builder = new TableBuilder(arenas, CHUNK_ROW_COUNT);
  rows.forEach((row, index) => {
    const cells = Object.entries(row).map(([name, atom]) => [Path.of(name), atom, TS] as const);
    builder.addRow(Path.of(`r${index}`), cells);
  });
  return builder.seal();
}

interface Asked {
  readonly sql: string;
  readonly format: FormatName;
  readonly output: OutputOptions;
  readonly columnOrder: 'select' | 'name';
}

interface Answer {
  readonly text: string;
  readonly rowCount: number;
  /** whether the general evaluator read rows of the table */
  readonly readsRows: boolean;
}

function answer(data: Relation, asked: Asked, accelerated: boolean): Answer {
  let readsRows = false;
  const watched: Relation = Object.create(data, {
    scan: {
      value: (...args: Parameters<Relation['scan']>) => {
        readsRows = true;
        return data.scan(...args);
      },
    },
  });
  const namespace: Namespace = {
    dataset: () => watched,
    findUserFunction: () => undefined,
    builtins: builtinNamespace,
  };
  const engine = { arenas, parallel: turnTaking(2), isFrugal: true, rowCountMin: 0 };
  const parts: Uint8Array[] = [];
  const rowCount = writeQuery(asked.sql, {
    ...asked,
    namespace,
    scope: NO_CONTEXT,
    executor: accelerated ? batchExecutor(engine) : undefined,
    emit: (bytes) => parts.push(Uint8Array.from(bytes)),
  });
  const text = Buffer.concat(parts).toString(asked.format === 'arrow' ? 'latin1' : 'utf8');
  return { text, rowCount, readsRows };
}

test('columns and rows are written with the same bytes, in every format', () => {
  let compared = 0;
  let fromColumns = 0;
  fc.assert(
    fc.property(
      table,
      query,
      output,
      fc.constantFrom('select' as const, 'name' as const),
      (rows, sql, options, columnOrder) => {
        const snapshot = tableOf(rows);
        try {
          const data = snapshotRelation(snapshot, arenas);
          for (const format of FORMATS) {
            const asked = { sql, format, output: options, columnOrder };
            const reference = answer(data, asked, false);
            const found = answer(data, asked, true);
            const { text, rowCount, readsRows } = found;
            const what = `${sql} as ${format}`;
            expect({ text, rowCount }, what).toEqual({
              text: reference.text,
              rowCount: reference.rowCount,
            });
            compared++;
            if (!readsRows) fromColumns++;
          }
        } finally {
          freeSnapshot(snapshot, arenas);
        }
      },
    ),
    { numRuns: 60 },
  );
  // Some names clash when they are renamed, and rows have to be made.
  expect(fromColumns).toBeGreaterThan(compared * 0.7);
});

test.each([
  'SELECT * FROM d',
  'SELECT * FROM d AS t WHERE k = 1 LIMIT 9',
  'SELECT * EXCLUDING (i) FROM d OFFSET 5',
  'SELECT n.* FROM d',
])('no row of a table with nulls is made for %s', (sql) => {
  const rows = Array.from({ length: 30 }, (_, i): TableRow => {
    return { k: i % 3, never: null, ...(i % 7 === 3 ? { i, 'n.x': 'a' } : { 'n.y': i }) };
  });
  const snapshot = tableOf(rows);
  try {
    const data = snapshotRelation(snapshot, arenas);
    for (const format of FORMATS) {
      const asked = { sql, format, output: DEFAULT_OUTPUT, columnOrder: 'select' } as const;
      const { text, readsRows } = answer(data, asked, true);
      expect(readsRows).toBe(false);
      expect(text).toBe(answer(data, asked, false).text);
    }
  } finally {
    freeSnapshot(snapshot, arenas);
  }
});
