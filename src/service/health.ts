// What `health` tells: whether the service starts, works or stops, and whether it can still write.
import type { Catalogue } from '../store/catalogue.ts';
import { nowSeconds } from './id.ts';

export interface HealthReport {
  readonly status: 'ok' | 'starting' | 'stopping' | 'degraded';
  readonly members: Readonly<Record<string, unknown>>;
}

export class Health {
  phase: 'ok' | 'starting' | 'stopping' = 'starting';
  readonly #catalogue: Catalogue;
  readonly #members = new Map<string, () => unknown>();
  #isTryingStorage = false;

  constructor(catalogue: Catalogue) {
    this.#catalogue = catalogue;
  }

  /** Adds a member to what `health` tells. */
  add(name: string, value: () => unknown): void {
    this.#members.set(name, value);
  }

  /** `degraded`: the last write failed, and so did each that was tried since somebody asked. */
  report(): HealthReport {
    const { phase } = this;
    const members = Object.fromEntries([...this.#members].map(([name, value]) => [name, value()]));
    const { failure: storage } = this.#catalogue;
    if (storage === undefined || phase !== 'ok') return { status: phase, members };
    this.#tryStorage();
    return { status: 'degraded', members: { ...members, details: { storage: storage.message } } };
  }

  /** Writes something small: nobody else may write while the service says that it cannot. */
  #tryStorage(): void {
    if (this.#isTryingStorage) return;
    this.#isTryingStorage = true;
    const value = nowSeconds();
    this.#catalogue
      .write([{ type: 'put', table: 'settings', key: ['last try to write'], value }])
      .catch(() => undefined)
      .finally(() => {
        this.#isTryingStorage = false;
      });
  }
}
