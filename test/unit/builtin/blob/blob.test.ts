import { describe, expect, test } from 'vitest';
import { readExif } from '../../../../src/builtin/blob/exif.ts';
import { describeContent } from '../../../../src/builtin/blob/mime.ts';
import { resultOf } from '../../../support/builtin-query.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('mime_type', () => {
  test.each([
    [Uint8Array.of(), 'empty'],
    [Uint8Array.of(0xff, 0xd8, 0xff, 0xe0), 'JPEG image data'],
    [Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a), 'PNG image data'],
    [bytes('GIF89a'), 'GIF image data'],
    [bytes('%PDF-1.7'), 'PDF document'],
    [Uint8Array.of(0x50, 0x4b, 3, 4), 'Zip archive data'],
    [Uint8Array.of(0x1f, 0x8b), 'gzip compressed data'],
    [bytes('hello\n'), 'ASCII text'],
    [bytes('héllo'), 'Unicode text, UTF-8 text'],
    [bytes('{"a": [1]}'), 'JSON text data'],
    [bytes('{not json'), 'ASCII text'],
    [bytes('<?xml version="1.0"?><a/>'), 'XML 1.0 document'],
    [bytes('<!DOCTYPE html><p>'), 'HTML document'],
    [Uint8Array.of(0, 1, 2, 255), 'data'],
  ])('of %s starts with %s', (content, expected) => {
    expect(describeContent(content)).toMatch(new RegExp(`^${expected}`));
  });

  test('a long text may be cut inside a character', () => {
    const text = `a${'é'.repeat(1 << 20)}`;
    expect(describeContent(bytes(text))).toBe('Unicode text, UTF-8 text');
  });

  test('wants a blob', () => {
    expect(() => resultOf("mime_type('text')")).toThrow('of type BLOB');
    expect(() => resultOf('mime_type(null)')).toThrow('of type BLOB');
    expect(() => resultOf('mime_type({a: 1})')).toThrow('of type BLOB');
    expect(() => resultOf('blob_length(5)')).toThrow('is not a blob');
    expect(resultOf('blob_length(null)')).toBeNull();
  });
});

/** A field of a directory: its tag, type, and values (a text when the type is 2). */
type Field = readonly [tag: number, type: number, value: string | readonly number[]];

const SIZES: Readonly<Record<number, number>> = { 1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 10: 8 };

/** A JPEG file with one EXIF block of the directories image, exif and gps. */
function jpegWith(
  image: readonly Field[],
  exif: readonly Field[],
  gps: readonly Field[],
): Uint8Array {
  const size = (fields: readonly Field[]): number => 2 + 12 * fields.length + 4;
  const imageCount = image.length + 2;
  const exifAt = 8 + 2 + 12 * imageCount + 4;
  const gpsAt = exifAt + size(exif);
  const pointers: Field[] = [
    [0x8769, 4, [exifAt]],
    [0x8825, 4, [gpsAt]],
  ];
  const view = new DataView(new ArrayBuffer(4096));
  view.setUint16(0, 0x4949);
  view.setUint16(2, 42, true);
  view.setUint32(4, 8, true);
  let heap = gpsAt + size(gps);
  const write = (at: number, fields: readonly Field[]): void => {
    view.setUint16(at, fields.length, true);
    fields.forEach(([tag, type, value], index) => {
      const entry = at + 2 + 12 * index;
      const values = typeof value === 'string' ? [...bytes(`${value}\0`)] : value;
      const count = type === 5 || type === 10 ? values.length / 2 : values.length;
      view.setUint16(entry, tag, true);
      view.setUint16(entry + 2, type, true);
      view.setUint32(entry + 4, count, true);
      const total = count * (SIZES[type] as number);
      let target = entry + 8;
      if (total > 4) {
        view.setUint32(entry + 8, heap, true);
        target = heap;
        heap += total;
      }
      values.forEach((number, i) => {
        if (type === 3) view.setUint16(target + 2 * i, number, true);
        else if (type === 4 || type === 5) view.setUint32(target + 4 * i, number, true);
        else if (type === 10) view.setInt32(target + 4 * i, number, true);
        else view.setUint8(target + i, number);
      });
    });
  };
  write(8, [...image, ...pointers]);
  write(exifAt, exif);
  write(gpsAt, gps);
  const block = [...bytes('Exif'), 0, 0, ...new Uint8Array(view.buffer, 0, heap)];
  const length = block.length + 2;
  return Uint8Array.of(0xff, 0xd8, 0xff, 0xe1, length >> 8, length & 255, ...block, 0xff, 0xd9);
}

describe('parse_exif', () => {
  const photo = jpegWith(
    [
      [0x010f, 2, 'Kamera'],
      [0x0112, 3, [6]],
    ],
    [
      [0x829a, 5, [1, 250]],
      [0x9204, 10, [-1, 3]],
      [0x9209, 3, [0x19]],
      [0xa432, 5, [18, 1, 55, 1, 7, 2, 28, 5]],
    ],
    [
      [1, 2, 'S'],
      [2, 5, [10, 1, 30, 1, 0, 1]],
      [3, 2, 'E'],
      [4, 5, [20, 1, 0, 1, 36, 1]],
      [5, 1, [1]],
      [6, 5, [25, 2]],
    ],
  );

  test('reads texts, numbers and computed fields', () => {
    const fields = readExif(photo);
    expect(Object.fromEntries(fields)).toMatchObject({
      cameraMake: 'Kamera',
      cameraModel: null,
      imageOrientation: 6,
      exposureTime: 1 / 250,
      exposureBias: -1 / 3,
      flashUsed: 1,
      lensMinFocalLength: 18,
      lensMaxFocalLength: 55,
      lensFstopMin: 3.5,
      lensFstopMax: 5.6,
      gpsLat: -10.5,
      gpsLon: 20.01,
      gpsAltitude: -12.5,
      isoSpeed: 0,
    });
    expect(fields.size).toBe(34);
  });

  test('is all null in a JPEG file without EXIF', () => {
    const values = [...readExif(Uint8Array.of(0xff, 0xd8, 0xff, 0xd9)).values()];
    expect(values).toEqual(values.map(() => null));
  });

  test('refuses other files and damaged data', () => {
    expect(() => readExif(bytes('GIF89a'))).toThrow('No JPEG markers found');
    const damaged = photo.slice();
    damaged.fill(0xff, 20, 40);
    expect(() => readExif(damaged)).toThrow('EXIF header was found, but data was corrupted');
    expect(() => resultOf('parse_exif(5)')).toThrow('EXIF extraction requires');
  });
});
