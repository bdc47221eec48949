// What the bodies of all requests together may hold in memory.
import { RowanError } from '../../util/error.ts';

export class BodyMemory {
  readonly #bytesMax: number;
  #heldBytes = 0;

  /** @param bytesMax of bodies as they are after decompressing */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** For the body of one request. */
  open(): BodyShare {
    let own = 0;
    return {
      hold: (byteCount) => {
        if (this.#heldBytes + byteCount > this.#bytesMax) {
          throw new RowanError(
            'OVERLOADED',
            503,
            `the bodies of all requests together are larger than ${this.#bytesMax} bytes; try again later`,
          );
        }
        own += byteCount;
        this.#heldBytes += byteCount;
      },
      release: () => {
        this.#heldBytes -= own;
        own = 0;
      },
    };
  }
}

export interface BodyShare {
  /** @throws OVERLOADED (503) when all bodies together are too large */
  hold(byteCount: number): void;
  /** The request has ended. */
  release(): void;
}
