// Files of words with their vectors, as word2vec and GloVe write them.
//
// With a header `<words> <dimensions>` a word and a space are followed by little-endian float32, or
// by numbers as text; without it every line is a word and its numbers.
// Mikolov et al., "Efficient estimation of word representations in vector space", 2013;
// Pennington et al., "GloVe: global vectors for word representation", 2014.
import { ByteReader, type ByteStream } from '../../file/byte-stream.ts';
import { failure } from '../../util/error.ts';

export interface WordVector {
  readonly word: string;
  readonly vector: readonly number[];
}

interface Header {
  readonly wordCount: number;
  readonly dimensionCount: number;
}

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const FLOAT_SIZE = 4;
/** Longer ones are no words: the file is something else. */
const WORD_SIZE_MAX = 1 << 20;
const HEADER_SIZE_MAX = 64;
const LINE_SIZE_MAX = 1 << 26;
/** Digits of a number with its sign, point, exponent and separator, generously. */
const NUMBER_SIZE_MAX = 48;

/** @throws DATA_ERROR for what is no such file, and for one that is cut short */
export async function* readVectors(source: ByteStream): AsyncGenerator<WordVector> {
  const reader = new ByteReader(source);
  try {
    const header = await readHeader(reader);
    if (header === undefined) {
      yield* readLines(reader, undefined);
    } else if (await isText(reader, header.dimensionCount)) {
      yield* readLines(reader, header);
    } else {
      yield* readBinary(reader, header);
    }
  } finally {
    await reader.close();
  }
}

/** Reads the header; undefined when there is none. */
async function readHeader(reader: ByteReader): Promise<Header | undefined> {
  const head = latin1(await reader.peek(HEADER_SIZE_MAX));
  const found = /^(\d{1,15}) +(\d{1,9})[ \t\r]*\n/.exec(head);
  if (found === null) return undefined;
  await reader.read(found[0].length);
  return { wordCount: Number(found[1]), dimensionCount: Number(found[2]) };
}

/** Whether the first record is a line of a word and as many numbers as there are dimensions. */
async function isText(reader: ByteReader, dimensionCount: number): Promise<boolean> {
  const sizeMax = Math.min(LINE_SIZE_MAX, WORD_SIZE_MAX + dimensionCount * NUMBER_SIZE_MAX);
  const end = await reader.find(LF, sizeMax);
  const line = utf8(await reader.peek(end === -1 ? sizeMax : end));
  return parseLine(line, dimensionCount) !== undefined;
}

async function* readLines(
  reader: ByteReader,
  header: Header | undefined,
): AsyncGenerator<WordVector> {
  const wordCount = header?.wordCount ?? Number.POSITIVE_INFINITY;
  let dimensionCount = header?.dimensionCount;
  let lineNumber = header === undefined ? 0 : 1;
  let count = 0;
  while (count < wordCount && (await reader.peek(1)).length > 0) {
    lineNumber++;
    const end = await reader.find(LF, LINE_SIZE_MAX);
    if (end === -1 && (await reader.peek(LINE_SIZE_MAX)).length === LINE_SIZE_MAX) {
      throw lineFailure(lineNumber, 'is no line of a word and numbers');
    }
    const bytes =
      end === -1 ? await reader.read(Number.POSITIVE_INFINITY) : await reader.read(end + 1);
    const line = utf8(bytes);
    if (line.trim() === '') continue;
    dimensionCount ??= line.trim().split(/[ \t]+/).length - 1;
    const record = parseLine(line, dimensionCount);
    if (record === undefined) {
      throw lineFailure(lineNumber, `is no word followed by ${dimensionCount} numbers`);
    }
    count++;
    yield record;
  }
  if (header !== undefined && count < wordCount) throw truncated(count, wordCount);
}

async function* readBinary(
  reader: ByteReader,
  { wordCount, dimensionCount }: Header,
): AsyncGenerator<WordVector> {
  for (let count = 0; count < wordCount; count++) {
    await skipLineEnd(reader);
    const end = await reader.find(SPACE, WORD_SIZE_MAX);
    if (end === -1) throw truncated(count, wordCount);
    const word = utf8((await reader.read(end + 1)).subarray(0, end));
    const bytes = await reader.read(dimensionCount * FLOAT_SIZE);
    if (bytes.length < dimensionCount * FLOAT_SIZE) throw truncated(count, wordCount);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const vector = Array.from({ length: dimensionCount }, (_, index) =>
      view.getFloat32(index * FLOAT_SIZE, true),
    );
    yield { word, vector };
  }
}

async function skipLineEnd(reader: ByteReader): Promise<void> {
  if ((await reader.peek(1))[0] === CR) await reader.read(1);
  if ((await reader.peek(1))[0] === LF) await reader.read(1);
}

/** The numbers are the last fields: some words of GloVe have spaces in them. */
function parseLine(line: string, dimensionCount: number): WordVector | undefined {
  const fields = line.trimEnd().split(/[ \t]+/);
  const wordEnd = fields.length - dimensionCount;
  if (wordEnd < 1) return undefined;
  const vector = fields.slice(wordEnd).map(Number);
  if (!vector.every(Number.isFinite)) return undefined;
  return { word: fields.slice(0, wordEnd).join(' '), vector };
}

function lineFailure(lineNumber: number, what: string): Error {
  return failure('DATA_ERROR', `line ${lineNumber} of the vector file ${what}`, { lineNumber });
}

function truncated(count: number, wordCount: number): Error {
  return failure('DATA_ERROR', `Truncated vector file: ${count} of ${wordCount} words are there`, {
    wordCount,
  });
}

function utf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
}
