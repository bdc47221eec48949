// The 32-bit xxHash of a stream (Collet, "xxHash fast digest algorithm"), which LZ4 frames carry.

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

export class Xxh32 {
  readonly #lanes = Int32Array.of(PRIME_1 + PRIME_2, PRIME_2, 0, -PRIME_1);
  readonly #pending = new Uint8Array(16);
  #pendingSize = 0;
  #totalSize = 0;

  static hash(bytes: Uint8Array): number {
    const state = new Xxh32();
    state.update(bytes);
    return state.digest();
  }

  update(bytes: Uint8Array): void {
    this.#totalSize += bytes.length;
    let position = 0;
    if (this.#pendingSize > 0) {
      const taken = bytes.subarray(0, 16 - this.#pendingSize);
      this.#pending.set(taken, this.#pendingSize);
      this.#pendingSize += taken.length;
      position = taken.length;
      if (this.#pendingSize < 16) return;
      this.#mix(this.#pending, 0);
    }
    for (; position + 16 <= bytes.length; position += 16) this.#mix(bytes, position);
    this.#pending.set(bytes.subarray(position));
    this.#pendingSize = bytes.length - position;
  }

  digest(): number {
    const [a, b, c, d] = this.#lanes as unknown as [number, number, number, number];
    let hash =
      this.#totalSize >= 16 ? rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18) : PRIME_5;
    hash = (hash + this.#totalSize) | 0;
    let position = 0;
    for (; position + 4 <= this.#pendingSize; position += 4) {
      hash = (hash + Math.imul(readI32(this.#pending, position), PRIME_3)) | 0;
      hash = Math.imul(rotate(hash, 17), PRIME_4);
    }
    for (; position < this.#pendingSize; position++) {
      hash = (hash + Math.imul(this.#pending[position] as number, PRIME_5)) | 0;
      hash = Math.imul(rotate(hash, 11), PRIME_1);
    }
    hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
    hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
    return (hash ^ (hash >>> 16)) >>> 0;
  }

  #mix(bytes: Uint8Array, offset: number): void {
    for (let lane = 0; lane < 4; lane++) {
      const input = Math.imul(readI32(bytes, offset + lane * 4), PRIME_2);
      const sum = ((this.#lanes[lane] as number) + input) | 0;
      this.#lanes[lane] = Math.imul(rotate(sum, 13), PRIME_1);
    }
  }
}

function readI32(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] as number) |
    ((bytes[offset + 1] as number) << 8) |
    ((bytes[offset + 2] as number) << 16) |
    ((bytes[offset + 3] as number) << 24)
  );
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
