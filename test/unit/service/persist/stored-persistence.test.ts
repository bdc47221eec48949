// What is written together is one change of the catalogue.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StoredPersistence } from '../../../../src/service/persist/stored-persistence.ts';
import type { RunRecord } from '../../../../src/service/run/run.ts';
import type { Change } from '../../../../src/store/catalogue.ts';
import { openCatalogue } from '../../../../src/store/open-catalogue.ts';

const RUN: RunRecord = {
  id: 'r',
  state: 'finished',
  startedAt: 1,
  endedAt: 2,
  sequence: 1,
  result: undefined,
  details: undefined,
  progress: undefined,
  error: undefined,
};
const ENTITY = { config: { id: 'f', type: 'sql.expression' }, resolved: {} };

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'rowan-persistence-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('an entity and the end of its run are one commit', async () => {
  const catalogue = await openCatalogue({ directory });
  const commits: (readonly Change[])[] = [];
  const write = catalogue.write.bind(catalogue);
  catalogue.write = (changes) => {
    commits.push(changes);
    return write(changes);
  };
  const persistence = new StoredPersistence(catalogue);
  await persistence.together(() =>
    Promise.all([persistence.saveEntity('function', ENTITY), persistence.saveRun('p', RUN)]),
  );
  expect(commits.map((changes) => changes.length)).toEqual([2]);
  expect(catalogue.get('entities', ['function', 'f'])).toMatchObject({ config: { id: 'f' } });
  expect(catalogue.get('runs', ['p', 'r'])).toMatchObject({ state: 'finished' });

  await persistence.forgetEntity('function', 'f');
  await persistence.forgetRun('p', 'r');
  expect(commits.map((changes) => changes.length)).toEqual([2, 1, 1]);
  catalogue.write = () => Promise.reject(new Error('the disk is full'));
  const both = persistence.together(() =>
    Promise.allSettled([persistence.saveEntity('function', ENTITY), persistence.saveRun('p', RUN)]),
  );
  expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await catalogue.close();
});
