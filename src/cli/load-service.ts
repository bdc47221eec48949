// Commands that need no service of their own do not load one.
import { startThreadAhead } from '../exec/pool/engine-thread.ts';
import { workerFile } from '../util/worker-file.ts';

/**
 * Loads a part of the program that opens a service. What else the service will need loads at the
 * same time: its first worker, and the store of a data directory.
 */
export function loadService<Module>(
  load: () => Promise<Module>,
  { dataDir }: { readonly dataDir: string },
): Promise<Module> {
  startThreadAhead(workerFile('service/engine/engine-worker.ts'));
  if (dataDir !== 'none') {
    // A failure is told when the store is opened.
    import('../store/lmdb-catalogue.ts').catch(() => undefined);
  }
  return load();
}
