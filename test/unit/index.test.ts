// Opening a service in this process and putting it on the network.
import { expect, test } from 'vitest';
import { type OpenOptions, Rowan } from '../../src/index.ts';

test('a service says what it needs to know where to keep things', async () => {
  for (const options of [undefined, {}, { dataDir: '' }, { dataDir: 7 }]) {
    const opening = Rowan.open(options as unknown as OpenOptions);
    await expect(opening).rejects.toThrow('dataDir: a directory, or null to keep nothing');
  }
});

test('a service listens once', async () => {
  const rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const address = await rowan.listen();
  await expect(rowan.listen()).rejects.toThrow(`listens on ${address} already`);
  await rowan.close();
  await expect(fetch(`${address}/ping`)).rejects.toThrow();
});
