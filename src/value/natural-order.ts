// The natural order of path elements: digit runs compare as numbers, everything else as UTF-8 bytes.

/**
 * Compares two path elements. Where both have a run of digits at the current position the runs
 * compare as numbers; numerically equal runs order by the count of leading zeros, more first.
 */
export function compareElements(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(j);
    if (isDigit(x) && isDigit(y)) {
      const aEnd = digitRunEnd(a, i);
      const bEnd = digitRunEnd(b, j);
      const order = compareDigitRuns(a, i, aEnd, b, j, bEnd);
      if (order !== 0) return order;
      i = aEnd;
      j = bEnd;
      continue;
    }
    if (x !== y) return compareCodeUnits(x, y);
    i++;
    j++;
  }
  return a.length - i - (b.length - j);
}

/** Compares two strings by code point, which is the order of their UTF-8 bytes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return compareCodeUnits(x, y);
  }
  return a.length - b.length;
}

/** UTF-16 puts surrogates (astral code points) below U+E000..U+FFFF; UTF-8 puts them above. */
function compareCodeUnits(x: number, y: number): number {
  if (x >= 0xd800 && y >= 0xd800) {
    const xSurrogate = x < 0xe000;
    if (xSurrogate !== y < 0xe000) return xSurrogate ? 1 : -1;
  }
  return x - y;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function digitRunEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  return end;
}

function compareDigitRuns(
  a: string,
  aStart: number,
  aEnd: number,
  b: string,
  bStart: number,
  bEnd: number,
): number {
  let i = aStart;
  let j = bStart;
  while (i < aEnd - 1 && a.charCodeAt(i) === 48) i++;
  while (j < bEnd - 1 && b.charCodeAt(j) === 48) j++;
  if (aEnd - i !== bEnd - j) return aEnd - i - (bEnd - j);
  const aZeros = i - aStart;
  const bZeros = j - bStart;
  for (; i < aEnd; i++, j++) {
    const difference = a.charCodeAt(i) - b.charCodeAt(j);
    if (difference !== 0) return difference;
  }
  return bZeros - aZeros;
}
