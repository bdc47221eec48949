// Groups whose cells are numbered by the codes of their keys, the last key varying fastest.

export interface OrderedKey {
  readonly cardinality: number;
  /** its codes in the wanted order */
  readonly codes: Uint32Array;
}

/** The cells that are met, in the order of the keys. Without keys there is the cell 0. */
export function cellsInOrder(
  keys: readonly OrderedKey[],
  isMet: (cell: number) => boolean,
): Int32Array {
  let prefixes = Int32Array.of(0);
  const last = keys.length - 1;
  if (last === -1) return prefixes.slice(0, isMet(0) ? 1 : 0);
  keys.forEach(({ cardinality, codes }, depth) => {
    const next = new Int32Array(prefixes.length * cardinality);
    let count = 0;
    for (const prefix of prefixes) {
      const base = prefix * cardinality;
      for (let i = 0; i < codes.length; i++) {
        const cell = base + (codes[i] as number);
        next[count] = cell;
        if (depth !== last || isMet(cell)) count++;
      }
    }
    prefixes = next.slice(0, count);
  });
  return prefixes;
}
