// Every case of cases/ over HTTP, against a server with the order of columns that its file is for. README.md describes the format.

import { afterAll, beforeAll, describe, test } from 'vitest';
import { HttpClient } from '../support/http.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { readCaseFiles, readPending, readWarned, selectCases, writePending } from './cases.ts';
import { runCase } from './run-case.ts';

const files = readCaseFiles();
const selected = selectCases(files, process.env.ROWAN_CONFORMANCE);
const pending = readPending();
const writesPending = process.env.ROWAN_CONFORMANCE_PENDING === 'write';
const failing = new Set<string>();
const passing = new Set<string>();
/** The warnings of the cases that ran, by name. */
const warned: Record<string, string> = {};

/** Files of cases that were written for the order of columns that MLDB has. */
const isByName = (file: string) => file !== 'sql-standard';

let service: TestService | undefined;
let client: HttpClient | undefined;
let startError: unknown = new Error('the server was not started');

afterAll(() => {
  if (!writesPending) return;
  const names = new Set([...pending, ...failing]);
  for (const name of passing) names.delete(name);
  writePending(names);
});

for (const file of selected) {
  describe(file.name, () => {
    // One after the other: functions that answer at once share what a process has once.
    beforeAll(async () => {
      try {
        service = await openRowan({ columnOrder: isByName(file.name) ? 'name' : 'select' });
        const address = await service.listen({ host: '127.0.0.1', port: 0 });
        client = new HttpClient(new URL(address).origin);
      } catch (error) {
        startError = error; // each case reports it, pending ones as a reason to wait
      }
    });

    afterAll(async () => {
      client?.close();
      client = undefined;
      await service?.close();
    });

    for (const conformanceCase of file.cases) {
      const { name } = conformanceCase;
      test(name, async (context) => {
        try {
          if (client === undefined) throw startError;
          const codes = await runCase(client, conformanceCase);
          if (codes.length > 0) warned[name] = codes.join(' ');
        } catch (error) {
          failing.add(name);
          if (writesPending || pending.has(name)) return context.skip(String(error));
          throw error;
        }
        passing.add(name);
        if (pending.has(name) && !writesPending) {
          throw new Error(`${name} passes: remove it from pending.json`);
        }
      });
    }
  });
}

// A warning that a query does not deserve teaches people to pass over them all.
test('only those cases are warned about that deserve it', ({ expect }) => {
  const ran = Object.entries(readWarned()).filter(([name]) => passing.has(name));
  expect(warned).toEqual(Object.fromEntries(ran));
});

describe('the case files', () => {
  const names = files.flatMap(({ cases }) => cases.map(({ name }) => name));

  test('give every case a name of its own', ({ expect }) => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('have every pending case', ({ expect }) => {
    expect([...pending].filter((name) => !names.includes(name))).toEqual([]);
  });
});
