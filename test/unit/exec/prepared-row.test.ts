// Select lists and expressions over rows of a caller.
import { describe, expect, it } from 'vitest';
import { compileExpression, compileSelect } from '../../../src/exec/prepared-row.ts';
import { atomType } from '../../../src/plan/type/type.ts';
import { constant, type Row, RowBuilder, type Scalar } from '../../../src/value/value.ts';
import { NO_CONTEXT } from '../../support/memory-namespace.ts';
import { EMPTY_CATALOG } from '../../support/query.ts';

const options = { namespace: EMPTY_CATALOG, scope: NO_CONTEXT };

function rowOf(members: Readonly<Record<string, number>>): Row {
  const builder = new RowBuilder();
  for (const [name, atom] of Object.entries(members)) builder.add(name, constant(atom));
  return builder.build();
}

describe('a select list', () => {
  it('makes rows of rows', () => {
    const select = compileSelect('x + y AS z, x AS a', options);
    expect(select.apply(rowOf({ x: 1, y: 2 }))).toEqual(rowOf({ a: 1, z: 3 }));
    expect(select.apply(rowOf({ x: 5, y: 5 }))).toEqual(rowOf({ a: 5, z: 10 }));
  });

  it('names the variables that it reads', () => {
    const select = compileSelect('input.x * 2 AS a, upper(y) AS b, {input.z} AS c', options);
    expect(select.variables).toEqual(['input', 'y']);
    expect(select.readsAll).toBe(false);
    expect(compileSelect('*', options).readsAll).toBe(true);
  });

  it('knows the columns that it makes', () => {
    expect(compileSelect("1 AS b, 'x' AS a", options).outputType).toEqual({
      kind: 'row',
      members: [
        { name: 'a', type: atomType('string') },
        { name: 'b', type: atomType('integer') },
      ],
      open: false,
    });
  });

  it('gives the value of its only item', () => {
    const select = compileSelect('x * 2 AS ignored', options);
    expect((select.applyValue(rowOf({ x: 4 })) as Scalar).atom).toBe(8);
  });
});

describe('an expression', () => {
  it('may call functions of the scope', () => {
    const functions = { lineNumber: atomType('integer') };
    const expression = compileExpression('lineNumber() > x', { ...options, functions });
    const at = (line: number) => expression.test(rowOf({ x: 3 }), { call: () => constant(line) });
    expect(at(3)).toBe(false);
    expect(at(4)).toBe(true);
    expect(() => compileExpression('lineNumber()', options)).toThrow(/Unable to find function/);
  });

  it('reads null where the input has nothing', () => {
    expect((compileExpression('y', options).evaluate(rowOf({ x: 1 })) as Scalar).atom).toBeNull();
  });
});
