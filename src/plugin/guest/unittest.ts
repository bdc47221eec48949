// The module mldb/unittest.
import { documented } from './document.ts';
import { stringifyJson } from './json.ts';

export function unittestModule(log: (...values: unknown[]) => unknown): object {
  const fail = (message: string, received: unknown, relation: string, expected: unknown): never => {
    log('received', received);
    log('expected', expected);
    throw `Assertion failure: ${message}: ${text(received)} ${relation} ${text(expected)}`;
  };

  const exports = {
    assertEqual: documented((received: unknown, expected: unknown, message = ''): void => {
      if (!isEqual(received, expected)) fail(message, received, 'not equal to', expected);
    }, 'Throws unless two values are equal, or have equal JSON.'),
    assertNotEqual: documented((received: unknown, other: unknown, message = ''): void => {
      if (isEqual(received, other)) fail(message, received, 'should not be equal to', other);
    }, 'Throws when two values are equal, or have equal JSON.'),
    assertInSet: documented((received: unknown, set: readonly unknown[], message = ''): void => {
      if (!set.some((member) => isEqual(received, member))) {
        fail(message, received, 'not in set', set);
      }
    }, 'Throws unless a value is among those of an array.'),
    assertNearlyEqual: documented(
      (a: unknown, b: unknown, path = '', relativeError = 1e-6): boolean => {
        const difference = firstDifference(a, b, path, relativeError);
        if (difference !== undefined) log(difference);
        return difference === undefined;
      },
      'Whether two values are equal, with numbers equal up to a relative error; logs the first difference.',
    ),
  };
  return documented(exports, 'Assertions for tests.', '# mldb/unittest\n\nAssertions for tests.');
}

function text(value: unknown): string {
  return stringifyJson(value) ?? String(value);
}

function isEqual(a: unknown, b: unknown): boolean {
  // biome-ignore lint/suspicious/noDoubleEquals: texts and numbers of equal value are equal here
  return a == b || stringifyJson(a) === stringifyJson(b);
}

function firstDifference(
  a: unknown,
  b: unknown,
  path: string,
  relativeError: number,
): string | undefined {
  if (typeof a === 'number' && typeof b === 'number') {
    const tolerance = relativeError * Math.max(Math.abs(a), Math.abs(b));
    const isNear = Object.is(a, b) || a === b || Math.abs(a - b) <= tolerance;
    return isNear ? undefined : `${path}: ${a} is not nearly ${b}`;
  }
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return isEqual(a, b) ? undefined : `${path}: ${text(a)} is not ${text(b)}`;
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const inner = path === '' ? name : `${path}.${name}`;
    const difference = firstDifference(left[name], right[name], inner, relativeError);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
