// The API key: kept in memory, in sessionStorage when the user asks for it, and nowhere else.
import { signal } from '@preact/signals';

const STORAGE_KEY = 'rowan-key';

export const key = signal<string | undefined>(readSession());

export interface KeyRequest {
  readonly reason: string;
  /** undefined: the user goes on without a key */
  answer(key: string | undefined, isKept: boolean): void;
}

/** Set while the user is asked. */
export const keyRequest = signal<KeyRequest | undefined>(undefined);
let asking: Promise<boolean> | undefined;

/** Asks once, however many calls wait. @returns whether there is a new key */
export function askForKey(reason: string): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => {
    keyRequest.value = {
      reason,
      answer(given, isKept) {
        keyRequest.value = undefined;
        asking = undefined;
        if (given !== undefined) setKey(given, isKept);
        resolve(given !== undefined);
      },
    };
  });
  return asking;
}

export function setKey(given: string | undefined, isKept: boolean): void {
  key.value = given;
  try {
    if (given !== undefined && isKept) sessionStorage.setItem(STORAGE_KEY, given);
    else sessionStorage.removeItem(STORAGE_KEY);
  } catch {
    // A browser without storage keeps it in memory.
  }
}

export function keyHeaders(): Record<string, string> {
  return key.value === undefined ? {} : { authorization: `Bearer ${key.value}` };
}

function readSession(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? undefined;
  } catch {
    return undefined;
  }
}
