// One replica as its primary sees it: a child process, what it was told, and whether it follows.
import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ChangedRecord } from '../store/announcing-catalogue.ts';
import type { FromReplica, ReplicaSettings, ToReplica } from './message.ts';

export type ReplicaState = 'starting' | 'ok' | 'silent' | 'ended';

export interface HandleOptions {
  /** the module that a replica runs */
  readonly entry: URL;
  readonly settings: ReplicaSettings;
  /** arguments for the module */
  readonly args: readonly string[];
  /** The process has ended without being told to; it will be started again. */
  onLoss(reason: string): void;
}

interface HandedOver {
  readonly socket: Socket;
  giveBack(socket: Socket): void;
}

/** After this long without a sign it gets no connections. */
const SILENCE_MS = 100;
/** After this long it is taken for dead. */
const PATIENCE_MS = 10_000;
const METRICS_MS = 3000;
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;
/** A replica that lives this long has not failed at its start. */
const GOOD_LIFE_MS = 30_000;

/**
 * Starts a replica, hands it connections, asks for its metrics, and starts it again when it ends.
 */
export class ReplicaHandle {
  readonly #options: HandleOptions;
  readonly #metricsWaiters = new Map<number, (metrics: readonly object[]) => void>();
  /** connections that it has not taken yet */
  readonly #handedOver = new Map<number, HandedOver>();
  #connectionCount = 0;
  #child: ChildProcess | undefined;
  #state: ReplicaState = 'ended';
  #toldVersion = 0;
  #appliedVersion = 0;
  #silence: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;
  #restart: NodeJS.Timeout | undefined;
  #restartDelayMs = RESTART_MS_MIN;
  #restartCount = 0;
  #startedAt = 0;
  #metricsCount = 0;
  #isStopping = false;
  #ended: Promise<void> = Promise.resolve();

  constructor(options: HandleOptions) {
    this.#options = options;
  }

  get state(): ReplicaState {
    return this.#state;
  }

  /** What `health` tells of it. */
  describe(): Record<string, unknown> {
    return {
      number: this.#options.settings.number,
      state: this.#state,
      ...(this.#child?.pid === undefined ? {} : { pid: this.#child.pid }),
      restarts: this.#restartCount,
    };
  }

  start(): void {
    const { entry, settings, args } = this.#options;
    const child = fork(fileURLToPath(entry), args, {
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child = child;
    this.#state = 'starting';
    this.#startedAt = performance.now();
    this.#ended = new Promise((resolve) => {
      const end = (reason: string) => {
        if (this.#child !== child) return;
        this.#lose(reason);
        resolve();
      };
      child.once('error', (error) => end(error.message));
      child.once('exit', (code, signal) => end(signal ?? `exit code ${code}`));
    });
    child.on('message', (message: FromReplica) => {
      if (this.#child === child) this.#receive(message);
    });
    this.#post({ type: 'start', settings });
  }

  /** Tells of a write. Until it is acknowledged the replica passes requests on, by itself. */
  tell(version: number, changed: readonly ChangedRecord[]): void {
    if (this.#child === undefined) return;
    this.#toldVersion = version;
    this.#post({ type: 'change', version, changed });
    this.#expectSign();
  }

  /**
   * Gives it a connection. This process keeps its own handle until the replica has taken it.
   * @param giveBack called when the replica ends before it has
   */
  handOver(socket: Socket, giveBack: (socket: Socket) => void): void {
    const connection = ++this.#connectionCount;
    this.#handedOver.set(connection, { socket, giveBack });
    const message: ToReplica = { type: 'connection', connection };
    // One that is just ending is noticed by its end.
    this.#child?.send(message, socket, { keepOpen: true }, () => undefined);
    this.#expectSign();
  }

  #taken(connection: number): void {
    // The connection lives on in the replica.
    this.#handedOver.get(connection)?.socket.destroy();
    this.#handedOver.delete(connection);
  }

  /** What it has counted; nothing when it does not answer in time. */
  metrics(): Promise<readonly object[]> {
    if (this.#state !== 'ok' && this.#state !== 'silent') return Promise.resolve([]);
    const request = ++this.#metricsCount;
    return new Promise((resolve) => {
      const give = (metrics: readonly object[]) => {
        clearTimeout(timer);
        this.#metricsWaiters.delete(request);
        resolve(metrics);
      };
      const timer = setTimeout(give, METRICS_MS, []);
      this.#metricsWaiters.set(request, give);
      this.#post({ type: 'metrics', request });
    });
  }

  /** Resolves when it has answered what it had begun and has ended. */
  stop(): Promise<void> {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    this.#post({ type: 'stop' });
    return this.#ended;
  }

  kill(): void {
    this.#isStopping = true;
    clearTimeout(this.#restart);
    this.#child?.kill('SIGKILL');
  }

  #receive(message: FromReplica): void {
    switch (message.type) {
      case 'ready':
        this.#state = 'ok';
        break;
      case 'taken':
        this.#taken(message.connection);
        break;
      case 'applied':
        this.#appliedVersion = message.version;
        break;
      case 'metrics':
        this.#metricsWaiters.get(message.request)?.(message.metrics);
        break;
    }
    this.#hear();
  }

  /** It has something to acknowledge. */
  get #isBehind(): boolean {
    return this.#appliedVersion < this.#toldVersion || this.#handedOver.size > 0;
  }

  #expectSign(): void {
    if (this.#state !== 'ok') return;
    this.#silence ??= setTimeout(() => this.#fallSilent(), SILENCE_MS);
  }

  /** It lives. */
  #hear(): void {
    this.#stopWaiting();
    if (this.#state === 'silent') {
      if (this.#isBehind) this.#awaitEnd();
      else this.#state = 'ok';
    } else if (this.#isBehind) this.#expectSign();
  }

  #stopWaiting(): void {
    clearTimeout(this.#silence);
    clearTimeout(this.#patience);
    this.#silence = undefined;
  }

  #fallSilent(): void {
    this.#silence = undefined;
    this.#state = 'silent';
    this.#awaitEnd();
  }

  #awaitEnd(): void {
    this.#patience = setTimeout(() => this.#child?.kill('SIGKILL'), PATIENCE_MS);
    this.#patience.unref();
  }

  #lose(reason: string): void {
    this.#stopWaiting();
    this.#toldVersion = 0;
    this.#appliedVersion = 0;
    this.#child = undefined;
    this.#state = 'ended';
    const handedOver = [...this.#handedOver.values()];
    this.#handedOver.clear();
    for (const { socket, giveBack } of handedOver) giveBack(socket);
    for (const give of [...this.#metricsWaiters.values()]) give([]);
    if (this.#isStopping) return;
    const lived = performance.now() - this.#startedAt;
    this.#restartDelayMs =
      lived > GOOD_LIFE_MS ? RESTART_MS_MIN : Math.min(this.#restartDelayMs * 2, RESTART_MS_MAX);
    this.#restart = setTimeout(() => {
      this.#restartCount++;
      this.start();
    }, this.#restartDelayMs);
    this.#options.onLoss(reason);
  }

  #post(message: ToReplica): void {
    // One that is just ending is noticed by its end.
    if (this.#child?.connected === true) this.#child.send(message, () => undefined);
  }
}
