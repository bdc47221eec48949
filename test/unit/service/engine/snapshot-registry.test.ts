// Memory is given back when nobody can read it any more, and not before.
import { beforeEach, expect, test } from 'vitest';
import { SnapshotRegistry } from '../../../../src/service/engine/snapshot-registry.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import type { Snapshot } from '../../../../src/value/column/snapshot.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { Path } from '../../../../src/value/path.ts';

let arenas: ArenaSet;
let registry: SnapshotRegistry;

function makeSnapshot(): Snapshot {
  const builder = new TableBuilder(arenas);
  builder.addRow(Path.of('row'), [[Path.of('x'), 'text', 0]]);
  builder.addRow(Path.of('other'), [[Path.of('x'), 2.5, 0]]);
  return builder.seal();
}

beforeEach(() => {
  arenas = ArenaSet.create({ budgetBytes: 2 ** 20, arenaPageCount: 64 });
  registry = new SnapshotRegistry(arenas);
});

test('the last holder frees it', () => {
  const snapshot = makeSnapshot();
  registry.hold(snapshot);
  registry.hold(snapshot);
  registry.release(snapshot);
  expect(arenas.usedBytes).toBeGreaterThan(0);
  registry.release(snapshot);
  expect(arenas.usedBytes).toBe(0);
});

test('tasks that began before keep it, later ones do not', () => {
  const snapshot = makeSnapshot();
  registry.hold(snapshot);
  const endFirst = registry.beginTask();
  const endSecond = registry.beginTask();
  registry.release(snapshot);
  const endLater = registry.beginTask();
  endFirst();
  expect(arenas.usedBytes).toBeGreaterThan(0);
  endSecond();
  expect(arenas.usedBytes).toBe(0);
  endLater();
});

test('an end that is told twice counts once', () => {
  const snapshot = makeSnapshot();
  registry.hold(snapshot);
  const end = registry.beginTask();
  const endOther = registry.beginTask();
  registry.release(snapshot);
  end();
  end();
  expect(arenas.usedBytes).toBeGreaterThan(0);
  endOther();
  expect(arenas.usedBytes).toBe(0);
});
