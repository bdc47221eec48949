// Shared control cells: how threads claim, wake, cancel and wait for one another without messages.

export const SLOT_COUNT_MAX = 64;
const CELLS_PER_SLOT = 16;

/** Cells of one worker's slot. Leaders own the unit cells while their parallel job runs. */
export const CELL = {
  /** one of STATE, or the serial number of the call by a leader that is not answered yet */
  state: 0,
  /** bumped and notified after anything was posted to the worker */
  wake: 1,
  /** 1: the running task was cancelled */
  cancel: 2,
  /** result chunks that the main thread has not consumed yet */
  chunksInFlight: 3,
  /** bumped and notified when a host call was answered */
  hostReplies: 4,
  /** next unit of the leader's job */
  nextUnit: 5,
  /** helpers of the leader's job that are done */
  helpersDone: 6,
  /** 1: the thread runs code that cannot check for cancellation */
  unstoppable: 7,
  /** the leader that it helps, as its slot plus 1; 0: none */
  leader: 8,
} as const;

export const STATE = {
  /** no thread in the slot */
  empty: 0,
  idle: 1,
  /** runs a task */
  leading: 2,
  /** runs units of another worker's job */
  helping: 3,
  starting: 4,
} as const;

/** In the cell of the leader: the helper is being ended and must not go on. */
const CONDEMNED = -1;

export function beginHelping(control: Int32Array, slot: number, leader: number): void {
  Atomics.store(control, cellOf(slot, CELL.leader), leader + 1);
}

/** Never returns when the pool is ending the helper: the thread waits for that. */
export function endHelping(control: Int32Array, slot: number, leader: number): void {
  const cell = cellOf(slot, CELL.leader);
  if (Atomics.compareExchange(control, cell, leader + 1, 0) === leader + 1) return;
  for (;;) Atomics.wait(control, cell, CONDEMNED);
}

/** @returns false when the thread does not help this leader, or not any more */
export function condemnHelper(control: Int32Array, slot: number, leader: number): boolean {
  const cell = cellOf(slot, CELL.leader);
  return Atomics.compareExchange(control, cell, leader + 1, CONDEMNED) === leader + 1;
}

/** Cells that belong to the pool as a whole. */
export const POOL_CELL = {
  /** tasks waiting on the main thread: a worker that becomes idle says so */
  queued: SLOT_COUNT_MAX * CELLS_PER_SLOT,
} as const;

export function createControl(): Int32Array {
  const cells = SLOT_COUNT_MAX * CELLS_PER_SLOT + 16;
  return new Int32Array(new SharedArrayBuffer(cells * Int32Array.BYTES_PER_ELEMENT));
}

export function cellOf(slot: number, cell: number): number {
  return slot * CELLS_PER_SLOT + cell;
}

/** The number of a leader's call, unlike all states and all calls that may still be on their way. */
export function callSerial(leader: number, count: number): number {
  return ((leader + 1) << 24) | (count & 0xff_ffff);
}

/** A called worker starts to help. @returns false when the leader has taken its call back */
export function answerCall(control: Int32Array, slot: number, serial: number): boolean {
  const cell = cellOf(slot, CELL.state);
  return Atomics.compareExchange(control, cell, serial, STATE.helping) === serial;
}

/** Takes a call back. @returns false when it was answered */
export function revokeCall(control: Int32Array, slot: number, serial: number): boolean {
  const cell = cellOf(slot, CELL.state);
  return Atomics.compareExchange(control, cell, serial, STATE.idle) === serial;
}

/** Takes an idle worker; exactly one claimant succeeds. */
export function claim(control: Int32Array, slot: number, state: number): boolean {
  const cell = cellOf(slot, CELL.state);
  return Atomics.compareExchange(control, cell, STATE.idle, state) === STATE.idle;
}

export function wake(control: Int32Array, slot: number): void {
  const cell = cellOf(slot, CELL.wake);
  Atomics.add(control, cell, 1);
  Atomics.notify(control, cell);
}
