// What the browser keeps for the user: drafts of queries and the history. Never results or keys.
// Without IndexedDB everything lives as long as the page.

const DATABASE = 'rowan-console';
const STORES = ['draft', 'history', 'setting'] as const;
export type StoreName = (typeof STORES)[number];

const memory = new Map<StoreName, Map<string, unknown>>(STORES.map((name) => [name, new Map()]));
let opened: Promise<IDBDatabase | undefined> | undefined;

function open(): Promise<IDBDatabase | undefined> {
  opened ??= new Promise((resolve) => {
    try {
      const request = indexedDB.open(DATABASE, 1);
      request.onupgradeneeded = () => {
        for (const name of STORES) request.result.createObjectStore(name);
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => resolve(undefined);
      request.onblocked = () => resolve(undefined);
    } catch {
      resolve(undefined);
    }
  });
  return opened;
}

/** Keys and values, in the order of the keys. */
export async function readAll<Value>(name: StoreName): Promise<[string, Value][]> {
  const database = await open();
  const kept = memory.get(name) as Map<string, Value>;
  if (database === undefined) return [...kept];
  return new Promise((resolve) => {
    const store = database.transaction(name).objectStore(name);
    const keys = store.getAllKeys();
    const values = store.getAll();
    store.transaction.oncomplete = () =>
      resolve(keys.result.map((key, index) => [String(key), values.result[index] as Value]));
    store.transaction.onerror = () => resolve([...kept]);
  });
}

/**
 * Replaces a value by what `change` makes of the one that is there, which another window may have
 * written meanwhile; undefined removes it.
 */
export async function update<Value>(
  name: StoreName,
  key: string,
  change: (current: Value | undefined) => Value | undefined,
): Promise<void> {
  const database = await open();
  const kept = memory.get(name) as Map<string, Value>;
  if (database === undefined) {
    const next = change(kept.get(key));
    if (next === undefined) kept.delete(key);
    else kept.set(key, next);
    return;
  }
  await new Promise<void>((resolve) => {
    const transaction = database.transaction(name, 'readwrite');
    const store = transaction.objectStore(name);
    const read = store.get(key);
    read.onsuccess = () => {
      const next = change(read.result as Value | undefined);
      if (next === undefined) store.delete(key);
      else store.put(next, key);
    };
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => resolve();
    transaction.onabort = () => resolve();
  });
}

/** A small setting that must be there before the first paint. */
export function readSetting(name: string): string | undefined {
  try {
    return localStorage.getItem(`rowan-${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeSetting(name: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`rowan-${name}`);
    else localStorage.setItem(`rowan-${name}`, value);
  } catch {
    // It holds for this page.
  }
}
