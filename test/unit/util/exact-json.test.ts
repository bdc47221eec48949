import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, parseJsonInTurns, stringifyJson } from '../../../src/util/exact-json.ts';

test('agrees with JSON.parse on every value it can hold', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(stringifyJson(parseJson(text))).toBe(stringifyJson(JSON.parse(text)));
    }),
  );
});

test('integers keep all their digits up to 64 bits', () => {
  expect(parseJson('[9007199254740993,18446744073709551615,-9223372036854775808]')).toEqual([
    9007199254740993n,
    18446744073709551615n,
    -9223372036854775808n,
  ]);
  expect(parseJson('18446744073709551616')).toBe(2 ** 64);
  expect(stringifyJson({ a: [9007199254740993n], b: undefined })).toBe('{"a":[9007199254740993]}');
});

test('__proto__ is an ordinary key and the last duplicate counts', () => {
  const value = parseJson('{"__proto__":{"x":1},"a":1,"a":2}') as Record<string, unknown>;
  expect(Object.keys(value)).toEqual(['__proto__', 'a']);
  expect((value as { x?: number }).x).toBeUndefined();
  expect(value.a).toBe(2);
});

test.each([
  ['{"a":\n 1,}', 'line 2, column 4'],
  ['[1 2]', "expected ',' or ']' at line 1, column 4"],
  ['', 'unexpected end of JSON at line 1, column 1'],
  ['{"a":1} x', 'extra characters'],
  ['"\\x"', 'bad escape'],
  ['"a\nb"', 'control character'],
  ['"abc', 'unterminated string'],
  ['nul', 'unexpected character'],
])('%j fails: %s', (text, reason) => {
  expect(() => parseJson(text)).toThrow(reason);
});

test('deep nesting is refused, also behind brackets in strings', () => {
  expect(() => parseJson('['.repeat(100_000))).toThrow('nesting deeper than 512');
  expect(() => parseJson(`["${']'.repeat(600)}",${'['.repeat(600)}${']'.repeat(600)}]`)).toThrow(
    'nesting deeper than 512',
  );
});

test('a byte-order mark is skipped', () => {
  expect(parseJson('\ufeff1')).toBe(1);
});

test('integers are exact wherever they stand', () => {
  for (let offset = 0; offset < 40; offset++) {
    const before = ' '.repeat(offset);
    expect(parseJson(`${before}[9007199254740993,1]`)).toEqual([9007199254740993n, 1]);
    expect(parseJson(`${before}[0.1234567890123456789]`)).toEqual([0.12345678901234568]);
  }
});

/** A long array of these texts. */
function longArray(elements: readonly string[]): string {
  let text = '';
  for (let i = 0; text.length < 150_000; i++) text += `${elements[i % elements.length]},`;
  return `[${text}0]`;
}

test('long texts are looked up from, and give what they give without', () => {
  fc.assert(
    fc.property(fc.array(fc.json(), { minLength: 1, maxLength: 20 }), (elements) => {
      const text = `{"a":${longArray(elements)},"b":{"c":[[${longArray(elements)}]]}}`;
      let lookCount = 0;
      const value = parseJson(text, () => lookCount++);
      expect(lookCount).toBeGreaterThan(4);
      expect(stringifyJson(value)).toBe(stringifyJson(parseJson(text)));
    }),
    { numRuns: 10 },
  );
});

/** What a text gives, or why it is refused. */
async function outcomeOf(parse: () => unknown): Promise<string> {
  try {
    return stringifyJson(await parse());
  } catch (thrown) {
    return String(thrown);
  }
}

test('a text of any form is parsed in turns, a piece in each', async () => {
  const mib = 2 ** 20;
  const texts = [
    `"${'long '.repeat(mib / 5)}"`,
    `"${'\\"'.repeat(mib / 2)}"`,
    `"${'\\ud83d\\ude00'.repeat(mib / 12)}"`,
    `{"${'key'.repeat(mib / 3)}": 1}`,
    `[${' '.repeat(mib)}]`,
    `{"a"${'\n'.repeat(mib)}: 1}`,
    `{${Array.from({ length: mib / 16 }, (_, i) => `"${i}": [${i}, "x"]`).join(', ')}}`,
    `${'[{"a":'.repeat(200)}${longArray(['9007199254740993', '"}"'])}${'}]'.repeat(200)}`,
    `"${'x'.repeat(mib)}`,
    `"${'x'.repeat(mib)}\\u00`,
    `${'\n'.repeat(mib)}?`,
  ];
  for (const text of texts) {
    let turnCount = 0;
    const turn = async () => {
      turnCount++;
    };
    const inTurns = await outcomeOf(() => parseJsonInTurns(text, turn));
    expect(inTurns === (await outcomeOf(() => parseJson(text))), text.slice(0, 20)).toBe(true);
    expect(turnCount, text.slice(0, 20)).toBeGreaterThan(text.length / 140_000);
  }
});

test('strings are whole wherever a piece ends', async () => {
  for (let offset = 0; offset < 14; offset++) {
    const text = `["${'x'.repeat(65_522 + offset)}\\u00e9\\"\\ud83d\\ude00é",${' '.repeat(65_536)}1]`;
    expect(await parseJsonInTurns(text, async () => undefined)).toEqual(JSON.parse(text));
  }
});

test('whoever looks up can end the work at any time', () => {
  const text = longArray(['["row",[["x",1,0]]]', '{"a":"]"}']);
  for (const lookMax of [1, 2, 3]) {
    let lookCount = 0;
    const look = () => {
      if (++lookCount === lookMax) throw new Error('cancelled');
    };
    expect(() => parseJson(text, look)).toThrow('cancelled');
    expect(lookCount).toBe(lookMax);
  }
});

test.each([
  ['9007199254740993', ''],
  ['1,,2', 'unexpected character at line 1'],
  ['1,]', 'unexpected character at line 1'],
  ['1],[', 'extra characters after the JSON value at line 1'],
  ['1}', "expected ',' or ']'"],
  ['{"a":1]', "expected ',' or '}'"],
  ['"abc', 'control character'],
  ['{"__proto__":1}', ''],
  ['['.repeat(600), 'nesting deeper than 512'],
])('%# what is odd in a long text is taken as in a short one', (element, reason) => {
  const outcome = (look?: () => void) => {
    const text = `${longArray(['[1]', '"text"']).slice(0, -1)},${element},\n${longArray(['2'])}]`;
    try {
      return stringifyJson(parseJson(text, look));
    } catch (thrown) {
      return String(thrown);
    }
  };
  expect(outcome(() => undefined)).toBe(outcome());
  expect(outcome()).toContain(reason);
});
