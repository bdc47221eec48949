import { describe, expect, test } from 'vitest';
import { prepareProgram, undeclaredVariables } from '../../../src/plugin/program.ts';

describe('prepareProgram', () => {
  test('hands thrown values to the recorder', () => {
    const { text } = prepareProgram('if (a) throw "x"; throw {throw: 1}');
    expect(text).toBe('if (a) throw __thrown(("x")); throw __thrown(({throw: 1}))');
  });

  test('leaves everything else that is called throw', () => {
    for (const source of ['g.throw(1)', '({throw(x) { return x }})', '"throw 1"', '// throw 1']) {
      expect(prepareProgram(source).text).toBe(source);
    }
  });

  test('leaves a program that does not parse to the engine', () => {
    expect(prepareProgram('throw throw').text).toBe('throw throw');
  });

  test('finds the columns of the user back', () => {
    const { text, originalColumn } = prepareProgram('a();\nthrow b; c');
    const line = text.split('\n')[1] as string;
    expect(originalColumn(1, 2)).toBe(2);
    expect(originalColumn(2, line.indexOf('(('))).toBe(6);
    expect(originalColumn(2, line.indexOf('b'))).toBe(6);
    expect(originalColumn(2, line.indexOf('c', line.indexOf(';')))).toBe(9);
  });
});

describe('undeclaredVariables', () => {
  test('are those that are assigned and declared nowhere', () => {
    const body = `
      var a; let b; const c = 1; function f(p) { p = 1 } class K {}
      a = b = d = 1; e++; for (i of []) ; for (const j of []) ; [g, {h, x: y = 2, ...r}] = [];
      try {} catch (err) { err = 1 } o.member = 1; param = 2;`;
    expect(undeclaredVariables(body, ['param']).sort()).toEqual([
      ...['d', 'e', 'g', 'h', 'i', 'r', 'y'],
    ]);
  });

  test('are none in a text that does not parse', () => {
    expect(undeclaredVariables('syntax error', [])).toEqual([]);
  });
});
