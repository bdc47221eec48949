// How many lines of a file were added and removed.

export interface LineCounts {
  readonly insertions: number;
  readonly deletions: number;
}

const NO_LINES: LineCounts = { insertions: 0, deletions: 0 };
/** Git takes a file for binary that has a zero in so many first bytes. */
const BINARY_LOOK_SIZE = 8000;
/** Edits that are looked for one by one; what is beyond counts as replaced. */
const EDIT_COUNT_MAX = 8192;
const STEPS_PER_CHECK = 256;

/** @param before undefined: the file is new. @param after undefined: it was removed */
export function lineCounts(
  before: Buffer | undefined,
  after: Buffer | undefined,
  check: () => void,
): LineCounts {
  if ([before, after].some((content) => content !== undefined && isBinary(content))) {
    return NO_LINES;
  }
  const [old, young] = numbered([linesOf(before), linesOf(after)]);
  let from = 0;
  let oldEnd = old.length;
  let youngEnd = young.length;
  while (from < oldEnd && from < youngEnd && old[from] === young[from]) from++;
  while (oldEnd > from && youngEnd > from && old[oldEnd - 1] === young[youngEnd - 1]) {
    oldEnd--;
    youngEnd--;
  }
  // A line that the other file does not have is an edit for certain.
  const oldMiddle = old.subarray(from, oldEnd);
  const youngMiddle = young.subarray(from, youngEnd);
  const inOld = new Set(oldMiddle);
  const inYoung = new Set(youngMiddle);
  const a = oldMiddle.filter((line) => inYoung.has(line));
  const b = youngMiddle.filter((line) => inOld.has(line));
  const common = commonLineCount(a, b, check);
  return {
    insertions: youngMiddle.length - common,
    deletions: oldMiddle.length - common,
  };
}

/** Lines of the longest common subsequence: Myers, "An O(ND) difference algorithm", 1986. */
function commonLineCount(a: Int32Array, b: Int32Array, check: () => void): number {
  const sizeMax = Math.min(a.length + b.length, EDIT_COUNT_MAX);
  const reach = new Int32Array(2 * sizeMax + 3);
  const middle = sizeMax + 1;
  for (let edits = 0; edits <= sizeMax; edits++) {
    if (edits % STEPS_PER_CHECK === 0) check();
    for (let k = -edits; k <= edits; k += 2) {
      const down = reach[middle + k + 1] as number;
      const right = (reach[middle + k - 1] as number) + 1;
      let x = k === -edits || (k !== edits && right <= down) ? down : right;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) {
        x++;
        y++;
      }
      reach[middle + k] = x;
      if (x >= a.length && y >= b.length) return (a.length + b.length - edits) / 2;
    }
  }
  return 0;
}

/** Whether a file counts as binary: a zero byte near its start, as Git has it. */
export function isBinary(content: Buffer): boolean {
  return content.subarray(0, BINARY_LOOK_SIZE).includes(0);
}

/** Lines with their ends, bytes as code points. */
function linesOf(content: Buffer | undefined): string[] {
  if (content === undefined || content.length === 0) return [];
  return content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function numbered(files: readonly [string[], string[]]): [Int32Array, Int32Array] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string) => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const [old, young] = files;
  return [Int32Array.from(old, numberOf), Int32Array.from(young, numberOf)];
}
