// `column = constant` in a sparse dataset gives what a scan gives, without the scan.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { queryRows } from '../../../../src/exec/query.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { freeSnapshot } from '../../../../src/value/column/snapshot-memory.ts';
import { SparseBuilder } from '../../../../src/value/column/sparse-builder.ts';
import { Path } from '../../../../src/value/path.ts';
import { FEW_FUNCTIONS } from '../../../support/few-functions.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';
import { format } from '../../../support/query.ts';

const arenas = ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

type Point = readonly [value: number | null | string, ts: number];

/** Runs queries over one sparse dataset `d` whose rows have the points in column `x`. */
function withDataset(rows: readonly (readonly Point[])[], use: (relation: Relation) => void): void {
  const builder = new SparseBuilder(arenas);
  rows.forEach((points, index) => {
    builder.addRow(
      Path.of(`r${index}`),
      points.map(([value, ts]) => [Path.of('x'), value, ts] as const),
    );
  });
  const snapshot = builder.seal();
  try {
    use(snapshotRelation(snapshot, arenas));
  } finally {
    freeSnapshot(snapshot, arenas);
  }
}

function query(sql: string, relation: Relation): string {
  const namespace: Namespace = {
    builtins: FEW_FUNCTIONS,
    dataset: () => relation,
    findUserFunction: () => undefined,
  };
  return format(queryRows(sql, { namespace, scope: NO_CONTEXT }), 'full');
}

/** Points of columns `x` and, for some rows, `y` or `x.z`. */
function withColumns(
  rows: readonly (readonly (readonly [string, ...Point])[])[],
  use: (relation: Relation) => void,
): void {
  const builder = new SparseBuilder(arenas);
  rows.forEach((points, index) => {
    const cells = points.map(([name, value, ts]) => [Path.parse(name), value, ts] as const);
    builder.addRow(Path.of(`r${index}`), cells);
  });
  const snapshot = builder.seal();
  try {
    use(snapshotRelation(snapshot, arenas));
  } finally {
    freeSnapshot(snapshot, arenas);
  }
}

const point: fc.Arbitrary<Point> = fc.tuple(
  fc.constantFrom(1, 2, null, 'a', 3, 4, 5),
  fc.constantFrom(0, 1, 2),
);

describe('a look-up by column', () => {
  it('selects by the latest value, in stored order', () => {
    const rows = fc.array(fc.array(point, { maxLength: 3 }), { minLength: 20, maxLength: 40 });
    fc.assert(
      fc.property(rows, (rows) => {
        withDataset(rows, (relation) => {
          for (const condition of ["x = 'a'", '1 = x', "x IN (2, 'a', null)", 'x = 1 AND x < 9']) {
            const lookedUp = query(`SELECT * FROM d WHERE ${condition}`, relation);
            const scanned = query(`SELECT * FROM d WHERE (${condition}) = true`, relation);
            expect(lookedUp).toBe(scanned);
          }
        });
      }),
      { numRuns: 60 },
    );
  });

  it('unites columns, and knows truth and presence', () => {
    const cell = fc.tuple(
      fc.constantFrom('x', 'x', 'y', 'x.z', 'w'),
      fc.constantFrom(1, 0, 2, null, 'a', ''),
      fc.constantFrom(0, 1),
    );
    const rows = fc.array(fc.oneof(fc.constant([]), fc.array(cell, { maxLength: 2 })), {
      minLength: 16,
      maxLength: 48,
    });
    const conditions = [
      'x',
      'x IS TRUE',
      'x IS NOT NULL',
      "x = 1 OR y = 'a'",
      "x = 1 OR x = 'a' OR y IN (1, 2) OR 2 = x",
      '(x = 1 AND y = 1) OR w',
      'y = 1 OR y IS NOT NULL OR w = 0',
      'y AND (w = 1 OR x = 1)',
      'x = 1 OR x = NULL',
    ];
    fc.assert(
      fc.property(rows, fc.constantFrom(...conditions), (rows, condition) => {
        withColumns(rows, (relation) => {
          const lookedUp = query(`SELECT * FROM d WHERE ${condition}`, relation);
          const scanned = query(`SELECT * FROM d WHERE (${condition}) IS TRUE = 1`, relation);
          expect(lookedUp).toBe(scanned);
        });
      }),
      { numRuns: 200 },
    );
  });

  it('reads no other row', () => {
    const rows = Array.from({ length: 100 }, (_, i): Point[] => [[i, 0]]);
    withDataset(rows, (relation) => {
      const narrow: Relation = {
        rowCount: relation.rowCount,
        columns: () => relation.columns(),
        columnCount: () => relation.columnCount(),
        findRows: (name, needed) => relation.findRows(name, needed),
        rowNames: () => relation.rowNames(),
        columnCells: (column, check) => relation.columnCells?.(column, check) ?? [],
        hasColumnsBelow: (column) => relation.hasColumnsBelow?.(column) ?? true,
        ...(relation.snapshot === undefined ? {} : { snapshot: relation.snapshot }),
        scan() {
          throw new Error('scanned');
        },
      };
      expect(query('SELECT x FROM d WHERE x = 42', narrow)).toBe(
        '[{"rowName":"r42","columns":[["x",42,"1970-01-01T00:00:00Z"]]}]',
      );
      for (const condition of ['x = 1 OR x = 3', 'y', 'y IS TRUE', 'y IS NOT NULL OR x = 5']) {
        expect(() => query(`SELECT x FROM d WHERE ${condition}`, narrow)).not.toThrow();
      }
      expect(() => query('SELECT x FROM d WHERE x > 42', narrow)).toThrow('scanned');
    });
  });
});
