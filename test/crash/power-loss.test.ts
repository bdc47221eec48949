// A loss of power at any call to the system: what was not synced is gone, names included. A file that
// is written durably is then whole, as it was before or as it is now, and after the call returned it
// is the new one.
import { expect, test } from 'vitest';
import { type FileSystem, writeFileDurably } from '../../src/store/durable-file.ts';

class PowerLoss extends Error {}

interface Content {
  written: string;
  synced: string;
}

/** A disk that forgets what was not synced; the power fails before the call of a number. */
class ForgetfulDisk implements FileSystem {
  readonly #names = new Map<string, Content>();
  #syncedNames = new Map<string, Content>();
  readonly #open = new Map<number, Content | 'directory'>();
  readonly #callCountMax: number;
  callCount = 0;

  constructor(callCountMax: number) {
    this.#callCountMax = callCountMax;
  }

  #count(): void {
    if (this.callCount++ >= this.#callCountMax) throw new PowerLoss('the power failed');
  }

  open(_path: string, flags: string): number {
    this.#count();
    const file = this.#open.size + 1;
    const content: Content = { written: '', synced: '' };
    if (flags !== 'r') this.#names.set(_path, content);
    this.#open.set(file, flags === 'r' ? 'directory' : content);
    return file;
  }

  write(file: number, buffers: readonly Uint8Array[]): number {
    this.#count();
    // A system may write less than it is given.
    const first = Buffer.from(buffers[0] as Uint8Array).subarray(0, 3);
    (this.#open.get(file) as Content).written += first.toString();
    return first.length;
  }

  sync(file: number): void {
    this.#count();
    const content = this.#open.get(file) as Content | 'directory';
    if (content === 'directory') this.#syncedNames = new Map(this.#names);
    else content.synced = content.written;
  }

  close(): void {
    this.#count();
  }

  rename(from: string, to: string): void {
    this.#count();
    this.#names.set(to, this.#names.get(from) as Content);
    this.#names.delete(from);
  }

  remove(path: string): void {
    this.#count();
    this.#names.delete(path);
  }

  /**
   * What is there when the power is back.
   * @param keepsNames whether the disk had written the names by itself, as it may at any time
   */
  afterLoss(path: string, keepsNames: boolean): string | undefined {
    return (keepsNames ? this.#names : this.#syncedNames).get(path)?.synced;
  }
}

const PATH = '/data/file';

/** Writes twice, the second time until the power fails. */
function run(callCountMax: number): { disk: ForgetfulDisk; hasReturned: boolean } {
  const disk = new ForgetfulDisk(callCountMax);
  const write = (text: string) =>
    writeFileDurably(PATH, (sink) => sink.write([Buffer.from(text)]), disk);
  let hasReturned = false;
  try {
    write('the old content');
    write('the new content');
    hasReturned = true;
  } catch {
    // The power failed.
  }
  return { disk, hasReturned };
}

test('a loss of power at any call leaves a whole file', () => {
  const { disk: whole, hasReturned } = run(Number.POSITIVE_INFINITY);
  expect(hasReturned).toBe(true);
  expect(whole.callCount).toBeGreaterThan(20);
  const found = new Set<string | undefined>();
  for (let calls = 0; calls <= whole.callCount; calls++) {
    for (const keepsNames of [false, true]) {
      const { disk, hasReturned } = run(calls);
      const text = disk.afterLoss(PATH, keepsNames);
      found.add(text);
      expect([undefined, 'the old content', 'the new content']).toContain(text);
      if (calls > whole.callCount / 2 + 1) expect(text, `after ${calls} calls`).toBeDefined();
      if (hasReturned) expect(text).toBe('the new content');
    }
  }
  expect(found.size).toBe(3);
});
