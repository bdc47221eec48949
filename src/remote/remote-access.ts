// Other systems as an engine worker sees them: calls that block, whose waiting ends with a cancel.
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { CredentialSource } from '../file/credential.ts';
import { failure, RowanError } from '../util/error.ts';
import { threadOptions, workerFile } from '../util/worker-file.ts';
import type { DriversStart, FromDrivers, RemoteRequest, ToDrivers, WireRow } from './message.ts';

/** How often a call that waits looks at the cancel flag. */
const CANCEL_CHECK_INTERVAL_MS = 20;
/** How long a cancelled run waits for what undoes its work; less than the time after which its thread is ended. */
const UNDO_PATIENCE_MS = 1000;

export interface RemoteAccess extends CredentialSource {
  /** Rows as they come; ending the iteration ends the request. @throws what the driver says */
  rows(request: RemoteRequest): Iterable<WireRow>;
  /** @throws what the driver says */
  execute(request: RemoteRequest): unknown;
  /**
   * Executes what removes the work of a run that failed or was cancelled, whose cancel does not end it.
   * @throws what the driver says; CANCELLED: it goes on without being waited for
   */
  undo(request: RemoteRequest): void;
}

export interface RemoteOptions {
  readonly credentials: CredentialSource;
  readonly allowsPrivate: boolean;
  checkCancelled(): void;
}

/** The drivers run in a thread that starts with the first request. */
export class RemoteThread implements RemoteAccess {
  readonly #options: RemoteOptions;
  #calls: Calls | undefined;

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  find(...args: Parameters<CredentialSource['find']>): ReturnType<CredentialSource['find']> {
    return this.#options.credentials.find(...args);
  }

  execute(request: RemoteRequest): unknown {
    return this.#start().call({ type: 'execute', ...request }).result;
  }

  undo(request: RemoteRequest): void {
    this.#start().undo(request);
  }

  *rows(request: RemoteRequest): Iterable<WireRow> {
    const calls = this.#start();
    const { id: stream } = calls.call({ type: 'open', ...request });
    try {
      for (;;) {
        const { result } = calls.call({ type: 'next', stream });
        if (result === undefined) return;
        yield* result as readonly WireRow[];
      }
    } finally {
      calls.end(stream);
    }
  }

  #start(): Calls {
    this.#calls ??= new Calls(this.#options);
    return this.#calls;
  }
}

type Without<Message, Key extends keyof Message> = Message extends unknown
  ? Omit<Message, Key>
  : never;

class Calls {
  readonly #options: RemoteOptions;
  readonly #port: MessageChannel['port1'];
  readonly #replies = new Int32Array(new SharedArrayBuffer(4));
  #nextId = 1;

  constructor(options: RemoteOptions) {
    this.#options = options;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    const start: DriversStart = {
      port: port2,
      replies: this.#replies,
      allowsPrivate: options.allowsPrivate,
    };
    const worker = new Worker(workerFile('remote/remote-thread.ts'), {
      ...threadOptions(),
      workerData: start,
      transferList: [port2],
      name: 'rowan-remote',
    });
    worker.unref();
  }

  /** @throws CANCELLED, and what the driver says */
  call(
    message: Without<Exclude<ToDrivers, { type: 'end' }>, 'id'>,
  ): Pick<FromDrivers, 'id' | 'result'> {
    const id = this.#nextId++;
    this.#port.postMessage({ ...message, id });
    try {
      return this.#wait(id, () => this.#options.checkCancelled());
    } catch (thrown) {
      this.end(id);
      throw thrown;
    }
  }

  undo(request: RemoteRequest): void {
    const id = this.#nextId++;
    this.#port.postMessage({ type: 'execute', ...request, id });
    const start = performance.now();
    this.#wait(id, () => {
      if (performance.now() - start > UNDO_PATIENCE_MS) this.#options.checkCancelled();
    });
  }

  end(id: number): void {
    this.#port.postMessage({ type: 'end', id } satisfies ToDrivers);
  }

  /** @throws what the driver says, and what `look` throws while it does not answer */
  #wait(id: number, look: () => void): FromDrivers {
    for (;;) {
      const seen = Atomics.load(this.#replies, 0);
      for (;;) {
        const received = receiveMessageOnPort(this.#port);
        if (received === undefined) break;
        // Replies to calls that were cancelled may still come.
        const reply = received.message as FromDrivers;
        if (reply.id !== id) continue;
        if (reply.error !== undefined) throw RowanError.fromBody(reply.error);
        return reply;
      }
      look();
      Atomics.wait(this.#replies, 0, seen, CANCEL_CHECK_INTERVAL_MS);
    }
  }
}

/** For threads that reach no other systems. */
export const NO_REMOTE: RemoteAccess = {
  find: () => undefined,
  rows: refuse,
  execute: refuse,
  undo: refuse,
};

function refuse(): never {
  throw failure('UNREACHABLE', 'other systems cannot be reached from here');
}
