// Work that is due once in a while, by the count of what was done.

/** A call that does `work` in each `count`th call. */
export function every(count: number, work: () => void): () => void {
  let left = count;
  return () => {
    if (--left > 0) return;
    left = count;
    work();
  };
}
