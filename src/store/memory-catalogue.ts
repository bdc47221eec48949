// A catalogue that keeps nothing: everything behaves the same until the process ends.
import { unreachable } from '../util/assert.ts';
import { parseJson, stringifyJson } from '../util/exact-json.ts';
import type { Catalogue, Change, LogEntry, RecordKey, StoredRecord, Table } from './catalogue.ts';
import { encodeKey } from './record-key.ts';

interface Log {
  last: number;
  entries: LogEntry[];
}

/** A catalogue that lasts as long as its process. */
export class MemoryCatalogue implements Catalogue {
  readonly directory = null;
  /** by the key's bytes as text; values as JSON text, so that later changes do not reach them */
  readonly #tables = new Map<Table, Map<string, { key: RecordKey; json: string }>>();
  readonly #logs = new Map<string, Log>();

  get(table: Table, key: RecordKey): unknown {
    const json = this.#table(table).get(keyText(key))?.json;
    return json === undefined ? undefined : parseJson(json);
  }

  *list(table: Table, prefix: RecordKey = []): Iterable<StoredRecord> {
    const start = keyText(prefix);
    const found = [...this.#table(table)].filter(([text]) => text.startsWith(start));
    found.sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [, { key, json }] of found) yield { key, value: parseJson(json) };
  }

  /** Nothing reaches a disk. */
  observeWrites(): void {}

  async write(changes: readonly Change[]): Promise<void> {
    for (const change of changes) {
      switch (change.type) {
        case 'put':
          this.#table(change.table).set(keyText(change.key), {
            key: change.key,
            json: stringifyJson(change.value),
          });
          break;
        case 'remove':
          this.#table(change.table).delete(keyText(change.key));
          break;
        case 'truncate': {
          const log = this.#logs.get(change.log);
          if (log === undefined) break;
          log.entries = log.entries.filter(({ sequence }) => sequence > change.through);
          break;
        }
        case 'drop':
          this.#logs.delete(change.log);
          break;
        default:
          unreachable(change);
      }
    }
  }

  async append(name: string, bytes: Uint8Array): Promise<number> {
    let log = this.#logs.get(name);
    if (log === undefined) {
      log = { last: 0, entries: [] };
      this.#logs.set(name, log);
    }
    log.last++;
    log.entries.push({ sequence: log.last, bytes: Uint8Array.from(bytes) });
    return log.last;
  }

  *entries(name: string, after = 0): Iterable<LogEntry> {
    for (const entry of this.#logs.get(name)?.entries ?? []) {
      if (entry.sequence > after) yield entry;
    }
  }

  lastSequence(name: string): number {
    return this.#logs.get(name)?.last ?? 0;
  }

  logs(): string[] {
    return [...this.#logs].filter(([, log]) => log.entries.length > 0).map(([name]) => name);
  }

  get failure(): undefined {
    return undefined;
  }

  refresh(): void {}

  async close(): Promise<void> {}

  #table(table: Table): Map<string, { key: RecordKey; json: string }> {
    let found = this.#tables.get(table);
    if (found === undefined) {
      found = new Map();
      this.#tables.set(table, found);
    }
    return found;
  }
}

function keyText(key: RecordKey): string {
  return encodeKey(key).toString('latin1');
}
