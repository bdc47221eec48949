// Prepared queries, cancellation, parameters and the clauses form.
import { describe, expect, it } from 'vitest';
import { ANY_PARAMETERS, prepareQuery, queryRows } from '../../../src/exec/query.ts';
import { failure } from '../../../src/util/error.ts';
import { constant, Row, type Value } from '../../../src/value/value.ts';
import { NO_CONTEXT } from '../../support/memory-namespace.ts';
import { format, namespaceOf, rowsOf, write } from '../../support/query.ts';

const namespace = namespaceOf({ d: rowsOf({ r1: { p: 5 }, r2: { p: 7 }, r3: { p: 9 } }) });
const scope = NO_CONTEXT;

describe('a prepared query', () => {
  it('runs again with other parameters', () => {
    const prepared = prepareQuery('SELECT p + $d AS s FROM d WHERE rowName() = $who', {
      namespace,
      scope,
      parameters: ANY_PARAMETERS,
    });
    const first = (who: string, d: number) => {
      const rows = prepared.run(
        new Map([
          ['who', constant(who)],
          ['d', constant(d)],
        ]),
      );
      return format(rows, 'table', { headers: false });
    };
    expect(first('r2', 100)).toBe('[["r2",107]]');
    expect(first('r3', 1)).toBe('[["r3",10]]');
    expect(first('r9', 1)).toBe('[]');
  });

  it('reads parameters in FROM and in sub-selects of IN', () => {
    const prepared = prepareQuery(
      'SELECT value FROM row_dataset($row) WHERE value IN (SELECT $keep) ORDER BY value',
      { namespace, scope, parameters: ANY_PARAMETERS },
    );
    const keep = (atom: number) =>
      format(
        prepared.run(
          new Map<string, Value>([
            ['row', new Row(['a', 'b'], [constant(1), constant(2)])],
            ['keep', constant(atom)],
          ]),
        ),
        'aos',
      );
    expect(keep(2)).toBe('[{"_rowName":"1","value":2}]');
    expect(keep(1)).toBe('[{"_rowName":"0","value":1}]');
  });

  it('takes a missing parameter for null', () => {
    const options = { namespace, scope, parameters: ANY_PARAMETERS };
    const prepared = prepareQuery('SELECT $nothing IS NULL AS n', options);
    expect(format(prepared.run(), 'atom')).toBe('1');
  });
});

describe('a query', () => {
  it('may be given as clauses', () => {
    const clauses = {
      select: 'p * 2 AS v',
      named: "'n' + p",
      from: 'd',
      where: 'p > 5',
      orderBy: 'p DESC',
      limit: 1,
    };
    expect(format(queryRows(clauses, { namespace, scope }), 'table', { headers: false })).toBe(
      '[["n9",18]]',
    );
  });

  it('stops between rows when it is cancelled', () => {
    const many = namespaceOf({
      d: rowsOf(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`r${i}`, { x: i }]))),
    });
    let looks = 0;
    const cancelling = {
      host: undefined,
      checkCancelled() {
        if (++looks === 3) throw failure('CANCELLED', 'cancelled');
      },
    };
    let rowCount = 0;
    const read = () => {
      for (const _ of queryRows('SELECT x FROM d', { namespace: many, scope: cancelling }))
        rowCount++;
    };
    expect(read).toThrow('cancelled');
    expect(rowCount).toBeLessThan(1000);
  });

  it('streams rows before the last is known', () => {
    const rows = queryRows('SELECT 5 % (p - 9) AS m FROM d', { namespace, scope });
    const iterator = rows[Symbol.iterator]();
    expect(iterator.next().done).toBe(false);
    expect(iterator.next().done).toBe(false);
    expect(() => iterator.next()).toThrow(/zero/);
  });

  it('without text is refused', () => {
    expect(() => write('  ')).toThrow(/is empty/);
  });
});
