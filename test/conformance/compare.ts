// Compares the answer of a case with what it expects.

type NumbersAgree = (expected: number | bigint, actual: number | bigint) => boolean;

interface Rules {
  readonly numbersAgree: NumbersAgree;
  readonly allowsFurtherKeys: boolean;
}

const EXACT: Rules = { numbersAgree: nearlyEqual, allowsFurtherKeys: false };
const SUBSET: Rules = { numbersAgree: nearlyEqual, allowsFurtherKeys: true };

/**
 * @param compare `exact`, `unordered`, `approx:<tolerance>` or `subset`
 * @param isTable whether the answer is in format `table`, a row of column names and rows of values
 * @returns where the two differ and how, undefined when they agree
 */
export function findDifference(
  compare: string,
  expected: unknown,
  actual: unknown,
  isTable: boolean,
): string | undefined {
  const [mode, argument] = compare.split(':', 2);
  switch (mode) {
    case 'exact':
      return differ(EXACT, expected, actual, '$');
    case 'subset':
      return differ(SUBSET, expected, actual, '$');
    case 'approx': {
      const tolerance = Number(argument);
      if (!(tolerance > 0)) throw new Error(`bad tolerance in "${compare}"`);
      return differ({ ...EXACT, numbersAgree: within(tolerance) }, expected, actual, '$');
    }
    case 'unordered':
      return differUnordered(expected, actual, isTable);
    default:
      throw new Error(`unknown way to compare "${compare}"`);
  }
}

/** A short text of any parsed JSON, bigints included. */
export function show(value: unknown): string {
  const text = JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item));
  if (text === undefined) return 'nothing';
  return text.length > 500 ? `${text.slice(0, 500)} ...` : text;
}

function differ(
  rules: Rules,
  expected: unknown,
  actual: unknown,
  place: string,
): string | undefined {
  if (isNumeric(expected) && isNumeric(actual)) {
    return rules.numbersAgree(expected, actual) ? undefined : unequal(expected, actual, place);
  }
  if (rules.allowsFurtherKeys && Array.isArray(expected) && Array.isArray(actual)) {
    const missing = expected.find((wanted) =>
      actual.every((item) => differ(rules, wanted, item, place) !== undefined),
    );
    return missing === undefined
      ? undefined
      : `${place} has no element like ${show(missing)}: ${show(actual)}`;
  }
  if (Array.isArray(expected) && Array.isArray(actual)) {
    if (expected.length !== actual.length) {
      return `${place} has ${actual.length} elements, expected ${expected.length}: ${show(actual)}`;
    }
    return firstOf(expected, (item, i) => differ(rules, item, actual[i], `${place}[${i}]`));
  }
  if (isObject(expected) && isObject(actual)) {
    const further = Object.keys(actual).filter((key) => !Object.hasOwn(expected, key));
    if (!rules.allowsFurtherKeys && further.length > 0) {
      return `${place} has unexpected keys ${further.join(', ')}: ${show(actual)}`;
    }
    return firstOf(Object.keys(expected), (key) =>
      Object.hasOwn(actual, key)
        ? differ(rules, expected[key], actual[key], `${place}.${key}`)
        : `${place} has no key ${key}: ${show(actual)}`,
    );
  }
  return expected === actual ? undefined : unequal(expected, actual, place);
}

function differUnordered(expected: unknown, actual: unknown, isTable: boolean): string | undefined {
  if (!Array.isArray(expected) || !Array.isArray(actual)) {
    return differ(EXACT, expected, actual, '$');
  }
  if (expected.length !== actual.length) {
    return `$ has ${actual.length} elements, expected ${expected.length}: ${show(actual)}`;
  }
  if (!isTable) return differAsMultisets(expected, actual);
  const [expectedNames, ...expectedRows] = expected;
  const [actualNames, ...actualRows] = actual;
  const order = columnOrder(expectedNames, actualNames);
  if (order === undefined) return unequal(expectedNames, actualNames, 'columns');
  const reordered = actualRows.map((row) =>
    Array.isArray(row) && row.length === order.length ? order.map((from) => row[from]) : row,
  );
  return differAsMultisets(expectedRows, reordered);
}

/** Where each expected column stands in the answer; equal names are taken from left to right. */
function columnOrder(expected: unknown, actual: unknown): number[] | undefined {
  if (!Array.isArray(expected) || !Array.isArray(actual)) return undefined;
  if (expected.length !== actual.length) return undefined;
  const free = actual.map((name) => ({ name, isTaken: false }));
  const order: number[] = [];
  for (const name of expected) {
    const index = free.findIndex((column) => !column.isTaken && column.name === name);
    const column = free[index];
    if (column === undefined) return undefined;
    column.isTaken = true;
    order.push(index);
  }
  return order;
}

function differAsMultisets(
  expected: readonly unknown[],
  actual: readonly unknown[],
): string | undefined {
  const rest = [...actual];
  for (const item of expected) {
    const index = rest.findIndex((candidate) => differ(EXACT, item, candidate, '$') === undefined);
    if (index < 0) return `$ lacks ${show(item)}, left are ${show(rest)}`;
    rest.splice(index, 1);
  }
  return undefined;
}

const RELATIVE_TOLERANCE = 1e-9;

/** Integers must be the same where a double could not tell them apart. */
function nearlyEqual(expected: number | bigint, actual: number | bigint): boolean {
  if (typeof expected === 'bigint' || typeof actual === 'bigint') {
    if (!isIntegral(expected) || !isIntegral(actual)) return false;
    return BigInt(expected) === BigInt(actual);
  }
  const size = Math.max(Math.abs(expected), Math.abs(actual));
  return Math.abs(expected - actual) <= RELATIVE_TOLERANCE * size;
}

function within(tolerance: number): NumbersAgree {
  return (expected, actual) => {
    const difference = Math.abs(Number(expected) - Number(actual));
    const size = Math.max(Math.abs(Number(expected)), Math.abs(Number(actual)));
    return difference <= tolerance || difference <= tolerance * size;
  };
}

function isIntegral(value: number | bigint): boolean {
  return typeof value === 'bigint' || Number.isInteger(value);
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unequal(expected: unknown, actual: unknown, place: string): string {
  return `${place} is ${show(actual)}, expected ${show(expected)}`;
}

function firstOf<T>(
  items: readonly T[],
  find: (item: T, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
