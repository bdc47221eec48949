// The state of each call into a sandbox, in memory that both threads see: a call that has not begun
// can be taken back, and a short reply is there at once, whatever the script after it does.

const STATE = {
  free: 0,
  /** lies in the worker, which has not looked at it */
  sent: 1,
  begun: 2,
  cancelled: 3,
  /** its text is in its box */
  answered: 4,
} as const;

/** Calls that the worker holds at one time, nested ones included. */
export const SLOT_COUNT = 512;

const CELLS_A_SLOT = 2;
const BOX_SIZE_BYTES = 4096;
const CELLS_SIZE_BYTES = SLOT_COUNT * CELLS_A_SLOT * 4;
const UTF8_BYTES_A_UNIT_MAX = 3;

export class CallSlots {
  readonly memory: SharedArrayBuffer;
  /** state and size of the text of each slot */
  readonly #cells: Int32Array;
  readonly #boxes: Buffer;

  /** @param memory that of the other thread's slots; default: new ones */
  constructor(memory = new SharedArrayBuffer(CELLS_SIZE_BYTES + SLOT_COUNT * BOX_SIZE_BYTES)) {
    this.memory = memory;
    this.#cells = new Int32Array(memory, 0, SLOT_COUNT * CELLS_A_SLOT);
    this.#boxes = Buffer.from(memory, CELLS_SIZE_BYTES);
  }

  // The main thread's side.

  send(slot: number): void {
    Atomics.store(this.#cells, slot * CELLS_A_SLOT, STATE.sent);
  }

  free(slot: number): void {
    Atomics.store(this.#cells, slot * CELLS_A_SLOT, STATE.free);
  }

  /** @returns true: the call had not begun, and it never will */
  takeBack(slot: number): boolean {
    return this.#change(slot, STATE.sent, STATE.cancelled);
  }

  /** Tells a call that has begun to stop. */
  cancel(slot: number): void {
    this.#change(slot, STATE.begun, STATE.cancelled);
  }

  hasBegun(slot: number): boolean {
    return Atomics.load(this.#cells, slot * CELLS_A_SLOT) !== STATE.sent;
  }

  /** The reply in the box; undefined: there is none. */
  answer(slot: number): string | undefined {
    const at = slot * CELLS_A_SLOT;
    if (Atomics.load(this.#cells, at) !== STATE.answered) return undefined;
    const start = slot * BOX_SIZE_BYTES;
    return this.#boxes.toString('utf8', start, start + (this.#cells[at + 1] as number));
  }

  // The worker's side.

  /** @returns false: the call was taken back */
  begin(slot: number): boolean {
    return this.#change(slot, STATE.sent, STATE.begun);
  }

  isCancelled(slot: number): boolean {
    return Atomics.load(this.#cells, slot * CELLS_A_SLOT) === STATE.cancelled;
  }

  /** Puts a reply into the box. @returns false: it may not fit */
  putAnswer(slot: number, text: string): boolean {
    if (text.length * UTF8_BYTES_A_UNIT_MAX > BOX_SIZE_BYTES) return false;
    const at = slot * CELLS_A_SLOT;
    this.#cells[at + 1] = this.#boxes.write(text, slot * BOX_SIZE_BYTES, 'utf8');
    Atomics.store(this.#cells, at, STATE.answered);
    return true;
  }

  #change(slot: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#cells, slot * CELLS_A_SLOT, from, to) === from;
  }
}
