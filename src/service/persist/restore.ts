// Brings back what was kept, when the service starts.
import type { EntityKind } from '../../dataset/entity-type.ts';
import { assert } from '../../util/assert.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { ConstructionContext, EntityCollection, LiveEntity } from '../entity/collection.ts';
import type { DatasetEntity } from '../entity/dataset-entity.ts';
import { type EntityBuilder, typeName } from '../entity/entity-builder.ts';
import type { FunctionEntity } from '../entity/function-entity.ts';
import type { PluginEntity } from '../entity/plugin-type.ts';
import type { ProcedureEntity } from '../entity/procedure-entity.ts';
import type { TypeRegistry } from '../entity/type-registry.ts';
import { runWithAtMost } from '../route/request-context.ts';
import { Run, type RunRecord } from '../run/run.ts';
import type { EntityRecord, KeptEntities } from './persistence.ts';

export interface RestoreTarget {
  readonly types: TypeRegistry;
  readonly builder: EntityBuilder;
  readonly datasets: EntityCollection<DatasetEntity>;
  readonly functions: EntityCollection<FunctionEntity>;
  readonly procedures: EntityCollection<ProcedureEntity>;
  readonly plugins: EntityCollection<PluginEntity>;
  collection(kind: EntityKind): EntityCollection<LiveEntity>;
  saveRun(procedureId: string, run: RunRecord): Promise<void>;
  /** An entity cannot be brought back; it is listed in state `error`. */
  onFailure(kind: EntityKind, id: string, error: unknown): void;
}

const RESTORE_ORDER: readonly EntityKind[] = ['plugin', 'dataset', 'function', 'procedure'];

const INTERRUPTED = 'interrupted by a restart of the server';

export async function restoreEntities(kept: KeptEntities, target: RestoreTarget): Promise<void> {
  for (const kind of RESTORE_ORDER) {
    const records = kept.entities.filter((record) => record.kind === kind);
    await restoreInOrder(records, {
      // Its scripts run with the rights of its creator, not with those of the service.
      rebuild: (record) =>
        runWithAtMost(record.creatorRole ?? 'admin', () => rebuild(kind, record, kept, target)),
      fail(record, error) {
        target.collection(kind).installFailure(record.config, error);
        target.onFailure(kind, record.config.id, error);
      },
    });
  }
  for (const { procedureId, run } of kept.runs) await restoreRun(procedureId, run, target);
}

interface RestoreSteps {
  /** @throws when the entity cannot be brought back, or not yet */
  rebuild(record: EntityRecord): Promise<void>;
  fail(record: EntityRecord, error: unknown): void;
}

/**
 * Records are in the order of creation, but an entity that was replaced comes after those that
 * refer to it: such ones are tried again.
 */
async function restoreInOrder(
  records: readonly EntityRecord[],
  { rebuild: attempt, fail }: RestoreSteps,
): Promise<void> {
  let left = records;
  while (left.length > 0) {
    const again: [EntityRecord, unknown][] = [];
    for (const record of left) {
      try {
        await attempt(record);
      } catch (thrown) {
        if (isMissingReference(thrown)) again.push([record, thrown]);
        else fail(record, thrown);
      }
    }
    if (again.length === left.length) {
      for (const [record, error] of again) fail(record, error);
      return;
    }
    left = again.map(([record]) => record);
  }
}

function isMissingReference(thrown: unknown): boolean {
  if (!(thrown instanceof RowanError)) return false;
  return (
    thrown.code === 'ENTITY_NOT_FOUND' || thrown.message.startsWith('Attempt to refer to nonexist')
  );
}

async function rebuild(
  kind: EntityKind,
  record: EntityRecord,
  kept: KeptEntities,
  target: RestoreTarget,
): Promise<void> {
  if (record.isPending === true) throw failure('RUN_FAILED', INTERRUPTED);
  const { config, resolved: params, storeId } = record;
  const scope: ConstructionContext = { signal: new AbortController().signal, progress() {} };
  switch (kind) {
    case 'dataset': {
      assert(storeId !== undefined, 'a dataset is kept under a number');
      const type = target.types.datasetType(typeName('dataset', config));
      if (type.pieces !== undefined) {
        target.datasets.restore(await target.builder.keptStream(record));
        return;
      }
      const isExternal = type.external?.url(params ?? {}) !== undefined;
      if (type.recording === undefined || isExternal) {
        target.datasets.restore(await target.builder.dataset(config, scope, { params, storeId }));
        return;
      }
      const rows = kept.rowsOf(storeId);
      const dataset = target.builder.keptDataset(record, rows.content);
      // Whether it can be read depends on what it remembers.
      dataset.restoreRows(rows.uncommitted, rows.state);
      target.datasets.restore(dataset);
      return;
    }
    case 'function':
      target.functions.restore(await target.builder.function(config, scope, { params }));
      return;
    case 'procedure':
      target.procedures.restore(await target.builder.procedure(config, { params }));
      return;
    case 'plugin':
      target.plugins.restore(await target.builder.plugin(config, scope));
      return;
    case 'sensor':
      throw failure('UNKNOWN_TYPE', { form: 'sensors' });
  }
}

async function restoreRun(
  procedureId: string,
  record: RunRecord,
  target: RestoreTarget,
): Promise<void> {
  const procedure = target.procedures.find(procedureId);
  if (procedure === undefined) return;
  const run = Run.restore(record, procedureId);
  procedure.restoreRun(run);
  if (!run.isActive) return;
  run.fail(failure('RUN_FAILED', INTERRUPTED));
  await target.saveRun(procedureId, run.record());
}
