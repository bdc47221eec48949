// Verifies the file of the catalogue before it is mapped into memory: a damaged page number in a
// mapped file ends the process, and a damaged page may hide records without a word.
//
// The layout is that of LMDB (data format 2): pages of one size; two meta pages, of which the later
// commit counts; B+ trees of branch and leaf pages; long values in runs of overflow pages.
// All numbers are little endian. See mdb.c of the package lmdb.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What is wrong with the file, for people. */
export class CatalogueDamage extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'CatalogueDamage';
  }
}

const HEADER_SIZE = 24;
const FLAGS_OFFSET = 18;
const LOWER_OFFSET = 20;
const UPPER_OFFSET = 22;

const BRANCH_PAGE = 1;
const LEAF_PAGE = 2;
const OVERFLOW_PAGE = 4;
const META_PAGE = 8;
const KIND_MASK = BRANCH_PAGE | LEAF_PAGE | OVERFLOW_PAGE | META_PAGE;

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const TREE_SIZE = 48;
const FREE_TREE_OFFSET = 48;
const MAIN_TREE_OFFSET = FREE_TREE_OFFSET + TREE_SIZE;
const LAST_PAGE_OFFSET = MAIN_TREE_OFFSET + TREE_SIZE;
const COMMIT_OFFSET = LAST_PAGE_OFFSET + 8;
const META_SIZE = COMMIT_OFFSET + 8;

const NODE_HEADER_SIZE = 8;
const BIG_DATA = 1;
const SUB_TREE = 2;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
const PAGE_SIZE_MIN = 512;
const PAGE_SIZE_MAX = 65_536;
const META_PAGE_COUNT = 2;

interface Tree {
  readonly depth: number;
  readonly entryCount: bigint;
  readonly root: bigint;
}

export interface VerifyOptions {
  /** true: the file was written as a copy, which has one head of a commit */
  readonly isCopy?: boolean;
}

/**
 * @throws CatalogueDamage when the file is cut off, or a page of it is not what it must be. Values
 * are not looked at: they have checksums of their own.
 */
export function verifyCatalogueFile(path: string, { isCopy = false }: VerifyOptions = {}): void {
  const file = openSync(path, 'r');
  try {
    new PageReader(file, fstatSync(file).size).verify(isCopy);
  } finally {
    closeSync(file);
  }
}

class PageReader {
  readonly #file: number;
  readonly #sizeBytes: number;
  #pageSize = 0;
  #pageCount = 0;
  /** pages that something refers to */
  #used = new Uint8Array(0);

  constructor(file: number, sizeBytes: number) {
    this.#file = file;
    this.#sizeBytes = sizeBytes;
  }

  verify(isCopy: boolean): void {
    const meta = this.#latestMeta(isCopy);
    this.#used = new Uint8Array(this.#pageCount);
    this.#used.fill(1, 0, META_PAGE_COUNT);
    this.#walk(readTree(meta, MAIN_TREE_OFFSET), (value, flags) => {
      if ((flags & SUB_TREE) === 0) return;
      if (value.length < TREE_SIZE) throw new CatalogueDamage('a table is described in part');
      this.#walk(readTree(value, 0));
    });
    const free: Buffer[] = [];
    this.#walk(readTree(meta, FREE_TREE_OFFSET), (value) => void free.push(Buffer.from(value)), {
      isOrdered: false,
    });
    for (const list of free) this.#checkFree(list);
  }

  /** Both must be whole: an older state must not be taken for the latest one. */
  #latestMeta(isCopy: boolean): Buffer {
    const first = this.#readMeta(0, 0);
    this.#pageSize = first.readUInt32LE(FREE_TREE_OFFSET);
    const isSize = (this.#pageSize & (this.#pageSize - 1)) === 0;
    if (!isSize || this.#pageSize < PAGE_SIZE_MIN || this.#pageSize > PAGE_SIZE_MAX) {
      throw new CatalogueDamage(`${this.#pageSize} is no size of a page`);
    }
    const second = this.#readMeta(1, this.#pageSize);
    const commits = [first, second].map((meta) => meta.readBigUInt64LE(COMMIT_OFFSET));
    const [even, odd] = commits as [bigint, bigint];
    const distance = even > odd ? even - odd : odd - even;
    if (distance > 1n && !isCopy)
      throw new CatalogueDamage('its two heads are not of successive commits');
    const meta = even >= odd ? first : second;
    this.#pageCount = Number(meta.readBigUInt64LE(LAST_PAGE_OFFSET)) + 1;
    if (this.#pageCount * this.#pageSize > this.#sizeBytes) {
      throw new CatalogueDamage(
        `it is cut off: ${this.#sizeBytes} bytes of ${this.#pageCount * this.#pageSize}`,
      );
    }
    return meta;
  }

  #readMeta(index: number, position: number): Buffer {
    const meta = this.#read(position, META_SIZE);
    const isMeta =
      meta.readBigUInt64LE(0) === BigInt(index) &&
      meta.readUInt16LE(FLAGS_OFFSET) === META_PAGE &&
      meta.readUInt32LE(HEADER_SIZE) === MAGIC &&
      meta.readUInt32LE(HEADER_SIZE + 4) === DATA_VERSION;
    if (!isMeta) throw new CatalogueDamage(`its head ${index + 1} is none of a catalogue`);
    return meta;
  }

  #read(position: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    const count = readSync(this.#file, bytes, 0, length, position);
    if (count < length) throw new CatalogueDamage(`it ends at byte ${position + count}`);
    return bytes;
  }

  #walk(
    { root, depth, entryCount }: Tree,
    visit: (value: Buffer, flags: number) => void = () => {},
    { isOrdered } = { isOrdered: true },
  ): void {
    let count = 0n;
    const descend = (pageNumber: bigint, level: number, low?: Buffer, high?: Buffer): void => {
      const isLeaf = level === depth;
      const page = this.#page(pageNumber, isLeaf ? LEAF_PAGE : BRANCH_PAGE);
      const nodes = [...this.#nodes(page, pageNumber)];
      nodes.forEach(({ key, value, flags, child }, index) => {
        const next = nodes[index + 1]?.key ?? high;
        // The first key of a branch page stands for everything before the second one.
        const least = isLeaf || index > 0 ? key : low;
        const isInOrder =
          (least === undefined || low === undefined || Buffer.compare(low, least) <= 0) &&
          (least === undefined || next === undefined || Buffer.compare(least, next) < 0);
        if (isOrdered && !isInOrder) {
          throw new CatalogueDamage(`keys of page ${pageNumber} are not in order`);
        }
        if (!isLeaf) descend(child, level + 1, least, next);
        else {
          count++;
          visit((flags & BIG_DATA) === 0 ? value : this.#overflow(value), flags);
        }
      });
    };
    if (root !== NO_PAGE) descend(root, 1);
    if (count !== entryCount) {
      throw new CatalogueDamage(`a table has ${count} entries instead of ${entryCount}`);
    }
  }

  #page(pageNumber: bigint, kind: number): Buffer {
    this.#use(pageNumber, 1n);
    const page = this.#read(Number(pageNumber) * this.#pageSize, this.#pageSize);
    if (
      page.readBigUInt64LE(0) !== pageNumber ||
      (page.readUInt16LE(FLAGS_OFFSET) & KIND_MASK) !== kind
    ) {
      throw new CatalogueDamage(`page ${pageNumber} is another one`);
    }
    return page;
  }

  #use(first: bigint, count: bigint): void {
    if (first < META_PAGE_COUNT || count < 1n || first + count > BigInt(this.#pageCount)) {
      throw new CatalogueDamage(`there is no page ${first}`);
    }
    for (let page = Number(first); page < Number(first + count); page++) {
      if (this.#used[page] === 1) throw new CatalogueDamage(`page ${page} is used twice`);
      this.#used[page] = 1;
    }
  }

  *#nodes(page: Buffer, pageNumber: bigint) {
    const count = page.readUInt16LE(LOWER_OFFSET) >> 1;
    const isLeaf = (page.readUInt16LE(FLAGS_OFFSET) & LEAF_PAGE) !== 0;
    const damage = new CatalogueDamage(`page ${pageNumber} refers beyond itself`);
    const first = HEADER_SIZE + page.readUInt16LE(UPPER_OFFSET);
    if (HEADER_SIZE + 2 * count > first || first > page.length) throw damage;
    for (let i = 0; i < count; i++) {
      const at = HEADER_SIZE + page.readUInt16LE(HEADER_SIZE + 2 * i);
      if (at < first || at + NODE_HEADER_SIZE > page.length) throw damage;
      const low = page.readUInt32LE(at);
      const flags = page.readUInt16LE(at + 4);
      const keyStart = at + NODE_HEADER_SIZE;
      const keyEnd = keyStart + page.readUInt16LE(at + 6);
      const isBig = isLeaf && (flags & BIG_DATA) !== 0;
      const valueEnd = keyEnd + (isLeaf ? (isBig ? HEADER_SIZE : low) : 0);
      if (valueEnd > page.length) throw damage;
      yield {
        key: page.subarray(keyStart, keyEnd),
        value: page.subarray(keyEnd, valueEnd),
        flags: isLeaf ? flags : 0,
        child: BigInt(low) + BigInt(flags) * 0x1_0000_0000n,
      };
    }
  }

  /** @returns nothing of it: the reader of the value verifies its checksum */
  #overflow(reference: Buffer): Buffer {
    const pageNumber = reference.readBigUInt64LE(0);
    this.#use(pageNumber, reference.readBigUInt64LE(16));
    const head = this.#read(Number(pageNumber) * this.#pageSize, HEADER_SIZE);
    if (
      head.readBigUInt64LE(0) !== pageNumber ||
      (head.readUInt16LE(FLAGS_OFFSET) & KIND_MASK) !== OVERFLOW_PAGE
    ) {
      throw new CatalogueDamage(`page ${pageNumber} holds no long value`);
    }
    return Buffer.alloc(0);
  }

  /** A page that is used must not be given out: negative entries tell lengths, 0 is none. */
  #checkFree(list: Buffer): void {
    for (let at = 8; at + 8 <= list.length; at += 8) {
      const page = list.readBigInt64LE(at);
      if (page <= 0n) continue;
      if (page >= BigInt(this.#pageCount) || this.#used[Number(page)] === 1) {
        throw new CatalogueDamage(`page ${page} is told to be free`);
      }
    }
  }
}

function readTree(bytes: Buffer, offset: number): Tree {
  return {
    depth: bytes.readUInt16LE(offset + 6),
    entryCount: bytes.readBigUInt64LE(offset + 32),
    root: bytes.readBigUInt64LE(offset + 40),
  };
}
