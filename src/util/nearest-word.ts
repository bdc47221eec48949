// Guesses which of some words was meant by a misspelt one.
/** The candidate at most two edits away from `word`, or one it begins; undefined when none is. */
export function findNearestWord(word: string, candidates: Iterable<string>): string | undefined {
  // One letter is near to everything that is as short.
  if (word.length === 1) return undefined;
  let nearest: string | undefined;
  let nearestDistance = word.length < 4 ? 2 : 3;
  for (const candidate of candidates) {
    const prefix = word.length >= 3 && candidate.startsWith(word);
    const distance = prefix ? 1 : editDistance(word, candidate);
    if (distance > 0 && distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/**
 * Insertions, deletions, substitutions and swaps of neighbours between two short words.
 * @see Damerau, "A technique for computer detection and correction of spelling errors", CACM 1964
 */
function editDistance(a: string, b: string): number {
  // Words to choose from are short: a word that is much longer is no misspelling of one.
  if (Math.abs(a.length - b.length) > 2) return 3;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let distance = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + cost,
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2];
      if (swapped && a[row - 2] === b[column - 1]) {
        distance = Math.min(distance, at(beforePrevious, column - 2) + 1);
      }
      current.push(distance);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] as number;
}
