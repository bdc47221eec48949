// The directories of tagged fields that EXIF keeps inside JPEG files: a small TIFF reader.

export type TiffValue = string | readonly number[];

/** Fields of a directory by tag. */
export type TiffDirectory = ReadonlyMap<number, TiffValue>;

/** Thrown when an offset or count leads outside of the data; the caller says it in SQL's words. */
export class TiffError extends Error {}

/** Bytes of a value by its type; 0: a type that is skipped. */
const TYPE_SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];

const TYPE_ASCII = 2;
const FIELD_COUNT_MAX = 1024;

export class TiffReader {
  readonly #view: DataView;
  readonly #isLittleEndian: boolean;

  /** @throws TiffError when the data has no TIFF header */
  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const order = bytes.length < 8 ? 0 : this.#view.getUint16(0);
    this.#isLittleEndian = order === 0x4949;
    if ((order !== 0x4949 && order !== 0x4d4d) || this.#uint16(2) !== 42) {
      throw new TiffError('no TIFF header');
    }
  }

  firstDirectory(): TiffDirectory {
    return this.directoryAt(this.#uint32(4));
  }

  /** @throws TiffError */
  directoryAt(offset: number): TiffDirectory {
    const fields = new Map<number, TiffValue>();
    const count = this.#uint16(offset);
    if (count > FIELD_COUNT_MAX) throw new TiffError(`${count} fields in a directory`);
    for (let i = 0; i < count; i++) {
      const entry = offset + 2 + 12 * i;
      const value = this.#field(entry);
      if (value !== undefined) fields.set(this.#uint16(entry), value);
    }
    return fields;
  }

  #field(entry: number): TiffValue | undefined {
    const type = this.#uint16(entry + 2);
    const count = this.#uint32(entry + 4);
    const size = TYPE_SIZES[type] ?? 0;
    if (size === 0) return undefined;
    const start = size * count <= 4 ? entry + 8 : this.#uint32(entry + 8);
    if (start + size * count > this.#view.byteLength) throw new TiffError('field out of bounds');
    if (type === TYPE_ASCII) return this.#text(start, count);
    // Long arrays are pictures or notes of the maker, which nobody asks for.
    const read = Math.min(count, 16);
    return Array.from({ length: read }, (_, index) => this.#number(type, start + size * index));
  }

  #text(start: number, count: number): string {
    const { buffer, byteOffset } = this.#view;
    const text = new TextDecoder().decode(new Uint8Array(buffer, byteOffset + start, count));
    const end = text.indexOf('\0');
    return (end === -1 ? text : text.slice(0, end)).trimEnd();
  }

  #number(type: number, offset: number): number {
    const view = this.#view;
    const little = this.#isLittleEndian;
    switch (type) {
      case 3:
        return view.getUint16(offset, little);
      case 4:
        return view.getUint32(offset, little);
      case 5:
        return view.getUint32(offset, little) / view.getUint32(offset + 4, little);
      case 6:
        return view.getInt8(offset);
      case 8:
        return view.getInt16(offset, little);
      case 9:
        return view.getInt32(offset, little);
      case 10:
        return view.getInt32(offset, little) / view.getInt32(offset + 4, little);
      case 11:
        return view.getFloat32(offset, little);
      case 12:
        return view.getFloat64(offset, little);
      default:
        return view.getUint8(offset);
    }
  }

  #uint16(offset: number): number {
    this.#check(offset, 2);
    return this.#view.getUint16(offset, this.#isLittleEndian);
  }

  #uint32(offset: number): number {
    this.#check(offset, 4);
    return this.#view.getUint32(offset, this.#isLittleEndian);
  }

  #check(offset: number, size: number): void {
    if (offset + size > this.#view.byteLength) throw new TiffError('offset out of bounds');
  }
}
