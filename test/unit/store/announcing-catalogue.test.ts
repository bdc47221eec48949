// Writes that other processes follow: numbered without a gap, told of when they are on the disk.
import { expect, test } from 'vitest';
import { AnnouncingCatalogue, storedVersion } from '../../../src/store/announcing-catalogue.ts';
import { MemoryCatalogue } from '../../../src/store/memory-catalogue.ts';

type Told = [version: number, keys: readonly (readonly string[])[]];

function open(inner = new MemoryCatalogue()) {
  const told: Told[] = [];
  const catalogue = new AnnouncingCatalogue(inner, (version, changed) =>
    told.push([version, changed.map(({ table, key }) => [table, ...key])]),
  );
  return { inner, catalogue, told };
}

const put = (key: string) => ({
  ...({ type: 'put', table: 'entities', value: 1 } as const),
  key: ['function', key],
});

test('a write is told of when its number is kept', async () => {
  const { inner, catalogue, told } = open();
  await catalogue.write([put('f'), { type: 'remove', table: 'entities', key: ['dataset', 'd'] }]);
  expect(told).toEqual([
    [
      1,
      [
        ['entities', 'function', 'f'],
        ['entities', 'dataset', 'd'],
      ],
    ],
  ]);
  expect(storedVersion(inner)).toBe(1);
  expect(catalogue.get('entities', ['function', 'f'])).toBe(1);
});

test('rows, logs and runs are nobody else’s business', async () => {
  const { inner, catalogue, told } = open();
  await catalogue.append('rows/1', new Uint8Array(3));
  await catalogue.write([
    { type: 'put', table: 'runs', key: ['p', 'r'], value: {} },
    { type: 'truncate', log: 'rows/1', through: 1 },
  ]);
  expect(told).toEqual([]);
  expect(storedVersion(inner)).toBe(0);
});

test('a write that fails has a number and no records', async () => {
  class FailingOnce extends MemoryCatalogue {
    isFailing = true;
    override write(changes: Parameters<MemoryCatalogue['write']>[0]): Promise<void> {
      if (!this.isFailing) return super.write(changes);
      this.isFailing = false;
      return Promise.reject(new Error('disk full'));
    }
  }
  const { inner, catalogue, told } = open(new FailingOnce());
  await expect(catalogue.write([put('f')])).rejects.toThrow('disk full');
  await catalogue.write([put('g')]);
  expect(told).toEqual([
    [1, []],
    [2, [['entities', 'function', 'g']]],
  ]);
  expect(storedVersion(inner)).toBe(2);
});

test('counting goes on after a restart, and for records that are kept elsewhere', async () => {
  const { inner, catalogue } = open();
  await catalogue.write([put('f')]);
  const again = open(inner);
  await again.catalogue.announce([{ table: 'keys', key: [] }]);
  expect(again.told).toEqual([[2, [['keys']]]]);
});
