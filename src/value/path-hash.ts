// The hash of paths: rowHash(), columnHash(), samples by row name. It never changes.
//
// CityHash64 of the UTF-8 bytes of each element (kernel/assembly/hash/city-hash.ts); the elements of a
// path are combined from the left.
import { HASH_BASE, hashMemory } from './hash-memory.ts';
import type { Path } from './path.ts';

/** The 64-bit hash of a path, unsigned; 0 for the null path. */
export function hashPath(path: Path): bigint {
  const { elements } = path;
  if (elements.length === 1) return hashElement(elements[0] as string);
  if (elements.length === 0) return 0n;
  const memory = hashMemory();
  const start = HASH_BASE + 4 * elements.length;
  const length = elements.reduce((sum, element) => sum + element.length, 0);
  memory.reserve(4 * elements.length + 3 * length);
  let end = start;
  for (const [index, element] of elements.entries()) {
    end = memory.writeText(element, end);
    memory.bytes.writeUInt32LE(end - start, HASH_BASE + 4 * index);
  }
  return BigInt.asUintN(64, memory.kernels.pathHash(start, HASH_BASE, elements.length));
}

/** 16 lower-case hexadecimal digits. */
export function hashPathHex(path: Path): string {
  return hashPath(path).toString(16).padStart(16, '0');
}

/** The hash of the path of one element. */
export function hashElement(element: string): bigint {
  const memory = hashMemory();
  memory.reserve(3 * element.length);
  const end = memory.writeText(element, HASH_BASE);
  return BigInt.asUintN(64, memory.kernels.cityHash(HASH_BASE, end - HASH_BASE));
}
