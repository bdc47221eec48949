// Keys of records as bytes that sort by element.
import { createHash } from 'node:crypto';

/** Longer elements are cut, and told apart by their hash: the store limits keys to 1,978 bytes. */
const ELEMENT_SIZE_MAX = 400;

/** Every element ends in 0 1; a zero byte inside one is 0 255. So no key is a prefix of another. */
export function encodeKey(key: readonly string[]): Buffer {
  return Buffer.concat(key.map(encodeElement));
}

function encodeElement(element: string): Buffer {
  const bytes = Buffer.from(element);
  const isLong = bytes.length > ELEMENT_SIZE_MAX;
  const escaped: number[] = [];
  for (const byte of isLong ? bytes.subarray(0, ELEMENT_SIZE_MAX / 2) : bytes) {
    escaped.push(byte);
    if (byte === 0) escaped.push(255);
  }
  if (isLong)
    escaped.push(
      ...createHash('sha256')
        .update(bytes)
        .digest('hex')
        .slice(0, 40)
        .split('')
        .map((digit) => digit.charCodeAt(0)),
    );
  return Buffer.from([...escaped, 0, 1]);
}

/** The first key behind all that begin with these bytes. */
export function keyBehind(prefix: Uint8Array): Buffer {
  const end = Buffer.from(prefix);
  for (let i = end.length - 1; i >= 0; i--) {
    if ((end[i] as number) < 255) {
      end[i] = (end[i] as number) + 1;
      return end.subarray(0, i + 1);
    }
  }
  return Buffer.from([255]);
}
