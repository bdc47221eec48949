// The first bytes of a file, decompressed: what guesses are made from.
import type { OpenFile } from '../../file/file-system.ts';

export const SAMPLE_SIZE = 1 << 20;

export interface Sample {
  readonly bytes: Buffer;
  /** true: the file ends with the sample */
  readonly isWhole: boolean;
}

/** The start of a file. */
export async function readSample(file: OpenFile): Promise<Sample> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of file.stream()) {
    parts.push(part);
    size += part.length;
    if (size > SAMPLE_SIZE) break;
  }
  return {
    bytes: Buffer.concat(parts).subarray(0, SAMPLE_SIZE),
    isWhole: size <= SAMPLE_SIZE,
  };
}

/** The whole lines of a sample, without line ends; one byte a character. */
export function sampleLines({ bytes, isWhole }: Sample): string[] {
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  const text = bytes.toString('latin1', mark);
  const lines = text.split(/\r?\n/);
  if (!isWhole && lines.length > 1) lines.pop();
  while (lines.length > 0 && lines[lines.length - 1]?.trim() === '') lines.pop();
  return lines;
}
