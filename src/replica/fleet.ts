// The primary's side of replicas: starts them, gives them connections, tells them of writes.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RestOptions } from '../rest/options.ts';
import type { PortSharing } from '../rest/port-sharing.ts';
import type { Web } from '../rest/web.ts';
import type { FileLimits } from '../service/engine/file-host.ts';
import { StoredRecords } from '../service/persist/stored-records.ts';
import type { RowanExtension } from '../service/rowan.ts';
import type { Service, SqlSettings } from '../service/service.ts';
import { AnnouncingCatalogue } from '../store/announcing-catalogue.ts';
import type { Catalogue } from '../store/catalogue.ts';
import { assert } from '../util/assert.ts';
import { ReplicaHandle } from './replica-handle.ts';

export interface FleetOptions {
  readonly count: number;
  /** the module that a replica runs, and its arguments */
  readonly entry: URL;
  readonly args: readonly string[];
  readonly dataDir: string;
  readonly rest: Partial<RestOptions>;
  readonly files: FileLimits;
  /** bytes that the columns of one replica may take */
  readonly sql: SqlSettings;
  readonly memoryBytes: number;
}

/** One for a service; launched when its port is open. */
export class ReplicaFleet implements RowanExtension, PortSharing {
  readonly privatePath: string;
  readonly #options: FleetOptions;
  /** holds the private socket: nobody else may enter it */
  readonly #directory: string | undefined;
  #catalogue: AnnouncingCatalogue | undefined;
  #service: Service | undefined;
  #replicas: readonly ReplicaHandle[] = [];
  #startOrder = 0;
  #next = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    if (process.platform === 'win32') {
      this.privatePath = `\\\\.\\pipe\\rowan-${randomBytes(16).toString('hex')}`;
    } else {
      this.#directory = mkdtempSync(join(tmpdir(), 'rowan-'));
      this.privatePath = join(this.#directory, 'primary.sock');
    }
  }

  wrapCatalogue(catalogue: Catalogue): Catalogue {
    const orders = new StoredRecords(catalogue).entities().map(({ order }) => order);
    this.#startOrder = Math.max(0, ...orders);
    this.#catalogue = new AnnouncingCatalogue(catalogue, (version, changed) => {
      for (const replica of this.#replicas) replica.tell(version, changed);
    });
    return this.#catalogue;
  }

  start(service: Service): void {
    this.#service = service;
    service.tellInHealth('replicas', () => this.#replicas.map((replica) => replica.describe()));
  }

  launch(web: Web): void {
    const { entry, args, count, dataDir, rest, files, sql, memoryBytes } = this.#options;
    web.keys.onChange = () => this.#announceKeys();
    web.metrics.others = () => Promise.all(this.#replicas.map((replica) => replica.metrics()));
    const common = { dataDir, rest, files, sql, memoryBytes, privatePath: this.privatePath };
    this.#replicas = Array.from({ length: count }, (_, index) => {
      const number = index + 1;
      return new ReplicaHandle({
        ...{ entry, args },
        settings: { ...common, number, startOrder: this.#startOrder },
        onLoss: (reason) =>
          this.#service?.logger.warn(
            { logger: 'replica', replica: number, reason },
            `replica ${number} has ended (${reason}) and is started again`,
          ),
      });
    });
    for (const replica of this.#replicas) replica.start();
  }

  #announceKeys(): Promise<void> {
    assert(this.#catalogue !== undefined, 'the catalogue is open while keys are made');
    return this.#catalogue.announce([{ table: 'keys', key: [] }]);
  }

  /** In turn to all that work. */
  handOver(socket: Socket, serveHere: (socket: Socket) => void): void {
    const { length } = this.#replicas;
    for (let i = 0; i < length; i++) {
      const replica = this.#replicas[(this.#next + i) % length] as ReplicaHandle;
      if (replica.state !== 'ok') continue;
      this.#next = (this.#next + i + 1) % length;
      replica.handOver(socket, (returned) => this.handOver(returned, serveHere));
      return;
    }
    serveHere(socket);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.stop()));
  }

  close(): void {
    for (const replica of this.#replicas) replica.kill();
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }
}
