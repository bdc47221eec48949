// EXIF fields of JPEG files.
//
// Tags as in CIPA DC-008 (Exif 2.3).
import { failure } from '../../util/error.ts';
import { type TiffDirectory, TiffError, TiffReader, type TiffValue } from './tiff.ts';

type DirectoryName = 'image' | 'exif' | 'gps';

interface FieldSource {
  readonly directory: DirectoryName;
  readonly tag: number;
  /** which number of the field; default the first */
  readonly index?: number;
}

const image = (tag: number): FieldSource => ({ directory: 'image', tag });
const exif = (tag: number, index = 0): FieldSource => ({ directory: 'exif', tag, index });

const TEXT_FIELDS: Readonly<Record<string, FieldSource>> = {
  cameraMake: image(0x010f),
  cameraModel: image(0x0110),
  software: image(0x0131),
  imageDescription: image(0x010e),
  imageCopyright: image(0x8298),
  imageDateTime: image(0x0132),
  originalDateTime: exif(0x9003),
  digitizedDateTime: exif(0x9004),
  subsecondTime: exif(0x9291),
  lensMake: exif(0xa433),
  lensModel: exif(0xa434),
};

const NUMBER_FIELDS: Readonly<Record<string, FieldSource>> = {
  bitsPerSample: image(0x0102),
  imageWidth: exif(0xa002),
  imageHeight: exif(0xa003),
  imageOrientation: image(0x0112),
  exposureTime: exif(0x829a),
  fStop: exif(0x829d),
  isoSpeed: exif(0x8827),
  subjectDistance: exif(0x9206),
  exposureBias: exif(0x9204),
  meteringMode: exif(0x9207),
  lensFocalLength: exif(0x920a),
  focalLength35mm: exif(0xa405),
  lensMinFocalLength: exif(0xa432, 0),
  lensMaxFocalLength: exif(0xa432, 1),
  lensFstopMin: exif(0xa432, 2),
  lensFstopMax: exif(0xa432, 3),
  gpsPrecision: { directory: 'gps', tag: 0x000b },
  focalPlaneXres: exif(0xa20e),
  focalPlaneYres: exif(0xa20f),
};

const COMPUTED_FIELDS = ['flashUsed', 'gpsLat', 'gpsLon', 'gpsAltitude'] as const;

const EXIF_DIRECTORY_TAG = 0x8769;
const GPS_DIRECTORY_TAG = 0x8825;
const FLASH_TAG = 0x9209;

/**
 * Every field by name: texts are null when absent, numbers 0; all are null without EXIF data.
 * @throws SQL_EXECUTION when the bytes are no JPEG file, or its EXIF data is damaged
 */
export function readExif(bytes: Uint8Array): Map<string, string | number | null> {
  const block = findExifBlock(bytes);
  if (block === undefined) return new Map(fieldNames().map((name) => [name, null]));
  try {
    return readFields(block);
  } catch (error) {
    if (!(error instanceof TiffError)) throw error;
    const message = `EXIF header was found, but data was corrupted: ${error.message}`;
    throw failure('SQL_EXECUTION', message);
  }
}

function fieldNames(): string[] {
  return [...Object.keys(TEXT_FIELDS), ...Object.keys(NUMBER_FIELDS), ...COMPUTED_FIELDS];
}

const EXIF_HEADER = [0x45, 0x78, 0x69, 0x66, 0, 0];

/** The contents of the first APP1 segment that holds EXIF. */
function findExifBlock(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) {
    throw failure('SQL_EXECUTION', 'No JPEG markers found');
  }
  let offset = 2;
  while (offset + 4 <= bytes.length && bytes[offset] === 0xff) {
    const marker = bytes[offset + 1] as number;
    if (marker === 0xff) {
      offset++;
      continue;
    }
    // Start of scan: no more headers follow.
    if (marker === 0xda || marker === 0xd9) return undefined;
    const size = ((bytes[offset + 2] as number) << 8) | (bytes[offset + 3] as number);
    const content = bytes.subarray(offset + 4, offset + 2 + size);
    if (marker === 0xe1 && EXIF_HEADER.every((byte, index) => content[index] === byte)) {
      return content.subarray(EXIF_HEADER.length);
    }
    offset += 2 + size;
  }
  return undefined;
}

function readFields(block: Uint8Array): Map<string, string | number | null> {
  const reader = new TiffReader(block);
  const imageFields = reader.firstDirectory();
  const directories: Record<DirectoryName, TiffDirectory> = {
    image: imageFields,
    exif: subDirectory(reader, imageFields, EXIF_DIRECTORY_TAG),
    gps: subDirectory(reader, imageFields, GPS_DIRECTORY_TAG),
  };
  const fields = new Map<string, string | number | null>();
  for (const [name, source] of Object.entries(TEXT_FIELDS)) {
    const text = directories[source.directory].get(source.tag);
    fields.set(name, typeof text === 'string' ? text : null);
  }
  for (const [name, source] of Object.entries(NUMBER_FIELDS)) {
    fields.set(name, numberAt(directories[source.directory].get(source.tag), source.index));
  }
  const { gps } = directories;
  fields.set('flashUsed', numberAt(directories.exif.get(FLASH_TAG)) & 1);
  fields.set('gpsLat', signedDegrees(gps.get(2), gps.get(1), 'S'));
  fields.set('gpsLon', signedDegrees(gps.get(4), gps.get(3), 'W'));
  fields.set('gpsAltitude', (numberAt(gps.get(5)) === 1 ? -1 : 1) * numberAt(gps.get(6)) || 0);
  return fields;
}

function subDirectory(reader: TiffReader, fields: TiffDirectory, tag: number): TiffDirectory {
  const offset = fields.get(tag);
  return offset === undefined ? new Map() : reader.directoryAt(numberAt(offset));
}

/** 0 when the field is absent or a fraction of nothing. */
function numberAt(value: TiffValue | undefined, index = 0): number {
  const number = typeof value === 'string' ? Number.NaN : (value?.[index] ?? 0);
  return Number.isFinite(number) ? number : 0;
}

/** Degrees, minutes and seconds; the reference letter tells the hemisphere. */
function signedDegrees(
  value: TiffValue | undefined,
  reference: TiffValue | undefined,
  negative: string,
): number {
  const degrees = numberAt(value, 0) + numberAt(value, 1) / 60 + numberAt(value, 2) / 3600;
  return reference === negative && degrees !== 0 ? -degrees : degrees;
}
