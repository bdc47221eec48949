// Blocks of Snappy (google/snappy, format_description.txt).

const HASH_BITS: u32 = 14;
/** Matches reach back this far at most. */
const BLOCK_SIZE: usize = 65536;
/** Behind here nothing is looked up, so that reads of 8 bytes stay inside. */
const MARGIN: usize = 15;

/** Bytes that `snappyCompress` needs for its table. */
@shared
const SNAPPY_TABLE_SIZE: i32 = 32768;

@inline
function hash(word: u32): usize {
  return <usize>((word * 0x1e35a7bd) >> (32 - HASH_BITS)) << 1;
}

/**
 * Compresses bytes.
 * @param out room for 32 + size + size / 6 bytes
 * @param table SNAPPY_TABLE_SIZE bytes
 * @returns the address behind what was written
 */
export function snappyCompress(source: usize, size: usize, out: usize, table: usize): usize {
  let left = <u32>size;
  while (left >= 0x80) {
    store<u8>(out++, <u8>(left | 0x80));
    left >>= 7;
  }
  store<u8>(out++, <u8>left);
  const end = source + size;
  for (let block = source; block < end; block += BLOCK_SIZE) {
    out = compressBlock(block, min<usize>(BLOCK_SIZE, end - block), out, table);
  }
  return out;
}

function compressBlock(block: usize, size: usize, out: usize, table: usize): usize {
  const end = block + size;
  let literal = block;
  if (size > MARGIN) {
    memory.fill(table, 0, SNAPPY_TABLE_SIZE);
    const limit = end - MARGIN;
    let at = block + 1;
    let skip: usize = 32;
    while (at < limit) {
      const word = load<u32>(at);
      const slot = table + hash(word);
      const candidate = block + load<u16>(slot);
      store<u16>(slot, <u16>(at - block));
      if (load<u32>(candidate) != word) {
        // Bytes that have not repeated for long probably will not.
        at += skip++ >> 5;
        continue;
      }
      out = writeLiteral(literal, at - literal, out);
      const length = matchLength(candidate + 4, at + 4, end) + 4;
      out = writeCopy(at - candidate, length, out);
      at += length;
      literal = at;
      skip = 32;
      if (at < limit) store<u16>(table + hash(load<u32>(at - 1)), <u16>(at - 1 - block));
    }
  }
  return writeLiteral(literal, end - literal, out);
}

@inline
function matchLength(a: usize, b: usize, end: usize): usize {
  const start = b;
  while (b + 8 <= end) {
    const difference = load<u64>(a) ^ load<u64>(b);
    if (difference != 0) return b - start + <usize>(ctz(difference) >> 3);
    a += 8;
    b += 8;
  }
  while (b < end && load<u8>(a) == load<u8>(b)) {
    a++;
    b++;
  }
  return b - start;
}

function writeLiteral(source: usize, length: usize, out: usize): usize {
  if (length == 0) return out;
  const count = <u32>length - 1;
  if (count < 60) {
    store<u8>(out++, <u8>(count << 2));
  } else if (count < 256) {
    store<u8>(out++, 60 << 2);
    store<u8>(out++, <u8>count);
  } else {
    store<u8>(out++, 61 << 2);
    store<u16>(out, <u16>count);
    out += 2;
  }
  if (length <= 64) {
    for (let i: usize = 0; i < length; i += 16) v128.store(out + i, v128.load(source + i));
  } else {
    memory.copy(out, source, length);
  }
  return out + length;
}

function writeCopy(offset: usize, length: usize, out: usize): usize {
  // What is left behind a copy must be long enough to be one.
  while (length >= 68) {
    out = writeFarCopy(offset, 64, out);
    length -= 64;
  }
  if (length > 64) {
    out = writeFarCopy(offset, 60, out);
    length -= 60;
  }
  if (length < 12 && offset < 2048) {
    store<u8>(out, <u8>(1 + ((length - 4) << 2) + ((offset >> 8) << 5)));
    store<u8>(out + 1, <u8>offset);
    return out + 2;
  }
  return writeFarCopy(offset, length, out);
}

@inline
function writeFarCopy(offset: usize, length: usize, out: usize): usize {
  store<u8>(out, <u8>(2 + ((length - 1) << 2)));
  store<u16>(out + 1, <u16>offset);
  return out + 3;
}

/**
 * Decompresses a block, of which sizes and offsets are not trusted.
 * @param out room for `size` bytes and 16 more
 * @param size what the block says that it decompresses to
 * @returns whether it holds exactly so many bytes
 */
export function snappyDecompress(source: usize, end: usize, out: usize, size: usize): bool {
  let at = source;
  // The size, which the caller has read.
  while (at < end && (load<u8>(at++) & 0x80) != 0) {}
  const start = out;
  const limit = out + size;
  while (at < end) {
    const tag = <u32>load<u8>(at++);
    let length = <usize>(tag >> 2) + 1;
    if ((tag & 3) == 0) {
      if (length > 60) {
        const bytes = <usize>(length - 60);
        if (at + bytes > end) return false;
        const mask: u32 = bytes == 4 ? 0xffffffff : (<u32>1 << (<u32>bytes << 3)) - 1;
        length = <usize>(load<u32>(at) & mask) + 1;
        at += bytes;
      }
      if (length > end - at || length > limit - out) return false;
      if (length <= 16) v128.store(out, v128.load(at));
      else memory.copy(out, at, length);
      out += length;
      at += length;
      continue;
    }
    let offset: usize;
    if ((tag & 3) == 1) {
      if (at >= end) return false;
      length = <usize>((tag >> 2) & 7) + 4;
      offset = <usize>(((tag >> 5) << 8) | <u32>load<u8>(at++));
    } else if ((tag & 3) == 2) {
      if (at + 2 > end) return false;
      offset = <usize>load<u16>(at);
      at += 2;
    } else {
      if (at + 4 > end) return false;
      offset = <usize>load<u32>(at);
      at += 4;
    }
    if (offset == 0 || offset > out - start || length > limit - out) return false;
    if (offset >= 16 && length <= 16) {
      v128.store(out, v128.load(out - offset));
    } else if (offset >= length) {
      memory.copy(out, out - offset, length);
    } else {
      for (let i: usize = 0; i < length; i++) store<u8>(out + i, load<u8>(out + i - offset));
    }
    out += length;
  }
  return out == limit;
}
