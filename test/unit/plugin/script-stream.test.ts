// Reads from a stream that arrives in chunks of every size.
import { describe, expect, test } from 'vitest';
import { ScriptStream } from '../../../src/plugin/script-stream.ts';

function streamOf(bytes: Uint8Array | string, chunkSize: number): ScriptStream {
  const all = typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes;
  let offset = 0;
  return new ScriptStream(() => {
    if (offset >= all.length) return undefined;
    const chunk = all.slice(offset, offset + chunkSize);
    offset += chunkSize;
    return chunk;
  });
}

const CHUNK_SIZES = [1, 2, 3, 1000];

describe.each(CHUNK_SIZES)('in chunks of %i bytes', (size) => {
  test('lines end with a newline or with the stream', () => {
    const stream = streamOf('one\r\nzwö\n\nlast', size);
    const line = () => stream.read({ what: 'line' });
    expect([line(), line(), line(), line()]).toEqual(['one', 'zwö', '', 'last']);
    expect(line).toThrow('End of file');
  });

  test('a final newline begins no line', () => {
    const stream = streamOf('a\n', size);
    expect(stream.read({ what: 'line' })).toBe('a');
    expect(stream.read({ what: 'eof' })).toBe(false);
    expect(() => stream.read({ what: 'line' })).toThrow('End of file');
    expect(stream.read({ what: 'eof' })).toBe(true);
  });

  test('numbers have a size, an order and a sign', () => {
    const number = (isSigned: boolean, isLittleEndian: boolean) =>
      streamOf(Uint8Array.of(0xfe, 0xff, 0xff, 0xff), size).read({
        what: 'number',
        sizeBytes: 4,
        isSigned,
        isLittleEndian,
      });
    expect(number(true, true)).toBe(-2);
    expect(number(false, true)).toBe(0xfffffffe);
    expect(number(false, false)).toBe(0xfeffffff);
    expect(number(true, false)).toBe(0xfeffffff - 2 ** 32);
  });

  test('JSON values follow one another', () => {
    const stream = streamOf('{"a":["]",{}]} -1.5e3,"\\"" true', size);
    const json = () => stream.read({ what: 'json' });
    expect(json()).toBe('{"a":["]",{}]}');
    expect(json()).toBe('-1.5e3');
    expect(stream.read({ what: 'bytes', count: 1 })).toEqual([44]);
    expect([json(), json()]).toEqual(['"\\""', 'true']);
    expect(json).toThrow('End of file');
  });

  test('a short blob must be allowed', () => {
    const read = (count: number, allowShort: boolean) =>
      streamOf(Uint8Array.of(1, 2, 3), size).read({ what: 'blob', count, allowShort });
    expect(read(-1, false)).toEqual({ blob: [1, 2, 3] });
    expect(read(9, true)).toEqual({ blob: [1, 2, 3] });
    expect(() => read(9, false)).toThrow('End of file');
  });
});
