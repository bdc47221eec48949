// Protocol buffers as far as ONNX needs them.
import { failure } from '../../util/error.ts';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

/** Writes the fields of one message. @see https://protobuf.dev/programming-guides/encoding */
export class MessageWriter {
  #bytes = new Uint8Array(256);
  #length = 0;

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A whole number that is not negative, or a negative one in ten bytes. */
  integer(field: number, value: number): void {
    this.#varint(field * 8 + VARINT);
    this.#varint(value);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#varint(field * 8 + BYTES);
    this.#varint(value.length);
    const at = this.#room(value.length);
    this.#bytes.set(value, at);
  }

  text(field: number, value: string): void {
    this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, write: (inner: MessageWriter) => void): void {
    const inner = new MessageWriter();
    write(inner);
    this.bytes(field, inner.finish());
  }

  #varint(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 0x7fn) {
      this.#byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.#byte(Number(rest));
  }

  #byte(value: number): void {
    const at = this.#room(1);
    this.#bytes[at] = value;
  }

  /** @returns where the next `count` bytes stand */
  #room(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes);
      this.#bytes = grown;
    }
    return at;
  }
}

/** The fields of one message, by number. */
export class Message {
  readonly #fields = new Map<number, (bigint | Uint8Array)[]>();

  /** @throws DATA_ERROR when the bytes are no message */
  constructor(bytes: Uint8Array) {
    const cursor = new Cursor(bytes);
    while (!cursor.isDone) {
      const key = Number(cursor.varint());
      const field = Math.floor(key / 8);
      const values = this.#fields.get(field) ?? [];
      this.#fields.set(field, values);
      values.push(cursor.value(key % 8));
    }
  }

  has(field: number): boolean {
    return this.#fields.has(field);
  }

  /** The last of the values, as the format wants it; 0 when there is none. */
  integer(field: number): number {
    return this.integers(field).at(-1) ?? 0;
  }

  integers(field: number): number[] {
    return this.#list(field, (bytes, out) => {
      const inner = new Cursor(bytes);
      while (!inner.isDone) out.push(Number(BigInt.asIntN(64, inner.varint())));
    });
  }

  floats(field: number): number[] {
    return this.#list(field, (bytes, out) => {
      if (bytes.length % 4 !== 0) throw cut();
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let at = 0; at < bytes.length; at += 4) out.push(view.getFloat32(at, true));
    });
  }

  doubles(field: number): number[] {
    return this.#list(field, (bytes, out) => {
      if (bytes.length % 8 !== 0) throw cut();
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
      for (let at = 0; at < bytes.length; at += 8) out.push(view.getFloat64(at, true));
    });
  }

  bytes(field: number): Uint8Array | undefined {
    return this.allBytes(field).at(-1);
  }

  allBytes(field: number): Uint8Array[] {
    return (this.#fields.get(field) ?? []).map((value) => {
      if (value instanceof Uint8Array) return value;
      throw cut();
    });
  }

  text(field: number): string {
    return new TextDecoder().decode(this.bytes(field));
  }

  texts(field: number): string[] {
    return this.allBytes(field).map((bytes) => new TextDecoder().decode(bytes));
  }

  messages(field: number): Message[] {
    return this.allBytes(field).map((bytes) => new Message(bytes));
  }

  /** Numbers that stand one by one or packed together. */
  #list(field: number, unpack: (bytes: Uint8Array, out: number[]) => void): number[] {
    const out: number[] = [];
    for (const value of this.#fields.get(field) ?? []) {
      if (value instanceof Uint8Array) unpack(value, out);
      else out.push(Number(BigInt.asIntN(64, value)));
    }
    return out;
  }
}

class Cursor {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Numbers of fixed width are kept as their bytes. */
  value(wire: number): bigint | Uint8Array {
    switch (wire) {
      case VARINT:
        return this.varint();
      case FIXED64:
        return this.#take(8);
      case FIXED32:
        return this.#take(4);
      case BYTES:
        return this.#take(Number(this.varint()));
      default:
        throw cut();
    }
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw cut();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw cut();
  }

  #take(count: number): Uint8Array {
    if (this.#at + count > this.#bytes.length) throw cut();
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
}

function cut(): Error {
  return failure('DATA_ERROR', 'not an ONNX file, or one that is cut short');
}
