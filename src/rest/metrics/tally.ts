// Counts and durations by label, kept as plain numbers while serving and put into the exposition's
// form by a scrape: a labelled observation of the metrics library costs as much as the rest
// of a small request.

export interface SeriesValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** A metric whose values are computed by each scrape. */
export interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  values(): SeriesValue[];
}

/** How often durations fell between bounds. */
export class Durations {
  readonly #bounds: readonly number[];
  /** not cumulative; the last holds those beyond all bounds */
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  /** @param bounds seconds, ascending */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && seconds > (this.#bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += seconds;
    this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  series(name: string, labels: SeriesValue['labels']): SeriesValue[] {
    let cumulative = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, index) => {
      cumulative += this.#counts[index] as number;
      return { metricName: `${name}_bucket`, value: cumulative, labels: { le, ...labels } };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, value: this.#sum, labels },
      { metricName: `${name}_count`, value: this.#count, labels },
    ];
  }
}

/** A value for each combination of two labels, found without building a key. */
export class PairMap<Value> {
  readonly #values = new Map<string, Map<string, Value>>();

  get(first: string, second: string, make: () => Value): Value {
    let inner = this.#values.get(first);
    if (inner === undefined) {
      inner = new Map();
      this.#values.set(first, inner);
    }
    let value = inner.get(second);
    if (value === undefined) {
      value = make();
      inner.set(second, value);
    }
    return value;
  }

  /** Removes the values of all combinations with a first label. */
  delete(first: string): void {
    this.#values.delete(first);
  }

  *entries(): Iterable<[first: string, second: string, value: Value]> {
    for (const [first, inner] of this.#values) {
      for (const [second, value] of inner) yield [first, second, value];
    }
  }
}
