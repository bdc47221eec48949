// Counts of what was made durable.
import type { Catalogue } from '../../store/catalogue.ts';
import { Durations, type Series } from './tally.ts';

const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const DURATION = 'rowan_log_sync_duration_seconds';

export class WriteMetrics {
  readonly #durations = new Durations(SECONDS);
  #sizeBytes = 0;

  watch(catalogue: Catalogue): void {
    catalogue.observeWrites((sizeBytes, seconds) => {
      this.#sizeBytes += sizeBytes;
      this.#durations.observe(seconds);
    });
  }

  series(): Series[] {
    return [
      {
        name: 'rowan_log_bytes_total',
        help: 'Bytes of records and log entries written',
        type: 'counter',
        values: () => [{ value: this.#sizeBytes, labels: {} }],
      },
      {
        name: DURATION,
        help: 'Time until a write is on the disk',
        type: 'histogram',
        values: () => this.#durations.series(DURATION, {}),
      },
    ];
  }
}
