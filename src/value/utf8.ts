// UTF-8 in and out of byte arrays. Written by hand because most texts here are short: the library
// call alone costs more than the loop.

/** An upper bound of the bytes that a text takes. */
export function utf8SizeMax(text: string): number {
  return text.length * 3;
}

/**
 * Writes a text at `position`; lone surrogates become U+FFFD.
 * @returns the position behind it
 */
export function writeUtf8(target: Uint8Array, position: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) target[position++] = code;
    else return writeUtf8Rest(target, position, text, i);
  }
  return position;
}

function writeUtf8Rest(target: Uint8Array, position: number, text: string, from: number): number {
  for (let i = from; i < text.length; i++) {
    let code = text.charCodeAt(i);
    if (code < 0x80) {
      target[position++] = code;
      continue;
    }
    if (code < 0x800) {
      target[position++] = 0xc0 | (code >> 6);
      target[position++] = 0x80 | (code & 63);
      continue;
    }
    if (code >= 0xd800 && code < 0xe000) {
      const low = text.charCodeAt(i + 1);
      if (code < 0xdc00 && low >= 0xdc00 && low < 0xe000) {
        i++;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        target[position++] = 0xf0 | (code >> 18);
        target[position++] = 0x80 | ((code >> 12) & 63);
        target[position++] = 0x80 | ((code >> 6) & 63);
        target[position++] = 0x80 | (code & 63);
        continue;
      }
      code = 0xfffd;
    }
    target[position++] = 0xe0 | (code >> 12);
    target[position++] = 0x80 | ((code >> 6) & 63);
    target[position++] = 0x80 | (code & 63);
  }
  return position;
}

/** The bytes of a text in an array of their own. */
export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

const encoder = new TextEncoder();

/**
 * For tables of a power of two in memory. Four bytes a step, mixed as in Murmur (Appleby), because a
 * step for each byte waits for the one before.
 */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let hash = Math.imul(end - start, 0x9e3779b1);
  let i = start;
  for (; i + 4 <= end; i += 4) {
    const word =
      (bytes[i] as number) |
      ((bytes[i + 1] as number) << 8) |
      ((bytes[i + 2] as number) << 16) |
      ((bytes[i + 3] as number) << 24);
    hash = Math.imul(hash ^ word, 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  for (; i < end; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193);
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * Compares two of the texts that lie behind each other in `bytes`; text k lies in
 * [offsets[k], offsets[k + 1]). The order of UTF-8 bytes is the order of texts.
 */
export function compareEntries(
  bytes: Uint8Array,
  offsets: Uint32Array,
  a: number,
  b: number,
): number {
  let i = offsets[a] as number;
  let j = offsets[b] as number;
  const aEnd = offsets[a + 1] as number;
  const bEnd = offsets[b + 1] as number;
  for (; i < aEnd && j < bEnd; i++, j++) {
    const difference = (bytes[i] as number) - (bytes[j] as number);
    if (difference !== 0) return difference;
  }
  return aEnd - i - (bEnd - j);
}
