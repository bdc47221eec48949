// Quantiles of any number of values in little memory.

interface Centroid {
  mean: number;
  count: number;
}

/** More centroids are more exact; about 200 give ranks within 1 %, and far better at the ends. */
const COMPRESSION = 200;
const BUFFER_COUNT_MAX = 2000;

/**
 * A merging t-digest.
 * @see Dunning & Ertl, "Computing extremely accurate quantiles using t-digests", 2019
 */
export class QuantileSketch {
  #centroids: Centroid[] = [];
  #buffer: Centroid[] = [];
  #count = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  add(value: number): void {
    if (Number.isNaN(value)) return;
    this.#buffer.push({ mean: value, count: 1 });
    this.#count++;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    if (this.#buffer.length >= BUFFER_COUNT_MAX) this.#compress();
  }

  merge(other: QuantileSketch): void {
    for (const { mean, count } of [...other.#centroids, ...other.#buffer]) {
      this.#buffer.push({ mean, count });
    }
    this.#count += other.#count;
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
    this.#compress();
  }

  /** The value at a share of the sorted values; undefined when there are none. */
  quantile(share: number): number | undefined {
    if (this.#count === 0) return undefined;
    if (this.#buffer.length > 0) this.#compress();
    const wanted = share * (this.#count - 1);
    let before = 0;
    let [lowPlace, lowValue] = [0, this.#min];
    for (const { mean, count } of this.#centroids) {
      const place = before + (count - 1) / 2;
      if (wanted <= place) return between(wanted, lowPlace, lowValue, place, mean);
      [lowPlace, lowValue] = [place, mean];
      before += count;
    }
    return between(wanted, lowPlace, lowValue, this.#count - 1, this.#max);
  }

  /** Neighbours become one while they are within the limit for their place. */
  #compress(): void {
    const sorted = [...this.#centroids, ...this.#buffer].sort((a, b) => a.mean - b.mean);
    this.#buffer = [];
    const merged: Centroid[] = [];
    let before = 0;
    let limit = 0;
    for (const { mean, count } of sorted) {
      const last = merged[merged.length - 1];
      if (last !== undefined && before + last.count + count <= limit) {
        last.count += count;
        last.mean += ((mean - last.mean) * count) / last.count;
        continue;
      }
      if (last !== undefined) before += last.count;
      merged.push({ mean, count });
      limit = this.#limitAfter(before);
    }
    this.#centroids = merged;
  }

  /** Where a centroid that begins after so many values must end. */
  #limitAfter(before: number): number {
    const share = Math.min(1, before / this.#count);
    const scale = (COMPRESSION / (2 * Math.PI)) * Math.asin(2 * share - 1) + 1;
    const next = (Math.sin(Math.min(Math.PI / 2, (scale * 2 * Math.PI) / COMPRESSION)) + 1) / 2;
    return next * this.#count;
  }
}

function between(at: number, a: number, valueA: number, b: number, valueB: number): number {
  if (b === a) return valueB;
  return valueA + ((valueB - valueA) * (at - a)) / (b - a);
}
