// Models of other programs as ONNX files, against what onnxruntime says of them. The files are made by
// test/reference/onnx-models.py.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { decodeOnnx, FLOAT } from '../../../../src/learn/onnx/model.ts';
import { compileOnnx } from '../../../../src/learn/onnx/run.ts';

const FOLDER = new URL('../../../reference/onnx-models/', import.meta.url);

interface Expected {
  readonly input: string;
  readonly rows: readonly (readonly (number | null)[])[];
  readonly outputs: Readonly<Record<string, unknown>>;
}

const EXPECTED: Readonly<Record<string, Expected>> = JSON.parse(
  readFileSync(new URL('expected.json', FOLDER), 'utf8'),
);

function bytesOf(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`${name}.onnx`, FOLDER)));
}

function inputOf({ rows }: Expected) {
  const cells = rows.flat().map((cell) => Math.fround(cell ?? Number.NaN));
  const dims = [rows.length, (rows[0] as readonly unknown[]).length];
  return { type: FLOAT, dims, numbers: Float64Array.from(cells) };
}

/** All numbers of an output, maps by their keys. */
function flat(output: unknown): unknown[] {
  if (Array.isArray(output)) return output.flatMap(flat);
  return typeof output === 'object' && output !== null ? Object.values(output) : [output];
}

describe.each(Object.entries(EXPECTED))('%s', (name, expected) => {
  test('gives what onnxruntime gives', () => {
    const tensors = compileOnnx(decodeOnnx(bytesOf(name)))(
      new Map([[expected.input, inputOf(expected)]]),
    );
    for (const [output, wanted] of Object.entries(expected.outputs)) {
      const { numbers, texts } = tensors.get(output) ?? {};
      const got = texts ?? Array.from(numbers ?? []);
      expect(got).toHaveLength(flat(wanted).length);
      for (const [i, value] of flat(wanted).entries()) {
        expect(got[i]).toBeCloseTo(
          value as number,
          4 - Math.floor(Math.log10(1 + Math.abs(value as number))),
        );
      }
    }
  });
});

test.each([
  ['cut short', (bytes: Uint8Array) => bytes.subarray(0, bytes.length / 2), /cut short|no graph/],
  ['text', () => new TextEncoder().encode('{"format": "rowan.model"}'), /ONNX/],
  ['empty', () => new Uint8Array(), /no graph/],
])('a file that is %s is refused', (_, edit, message) => {
  expect(() => compileOnnx(decodeOnnx(edit(bytesOf('forest-iris'))))).toThrow(message);
});

test('no cut of a file is taken for a model that ends in an internal error', () => {
  const bytes = bytesOf('network');
  for (let length = 0; length < bytes.length; length += 7) {
    try {
      compileOnnx(decodeOnnx(bytes.subarray(0, length)));
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: 'DATA_ERROR' });
    }
  }
});

test('an operator that is not supported is named, with those that are', () => {
  const model = decodeOnnx(bytesOf('linear'));
  const nodes = model.nodes.map((node) => ({ ...node, op: 'LSTM', domain: '' }));
  expect(() => compileOnnx({ ...model, nodes })).toThrow(
    /an operator that is not supported, LSTM; supported are Abs, Add/,
  );
});
