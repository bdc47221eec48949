// Commands that need no service of their own do not load one.
import { startThreadAhead } from '../exec/pool/engine-thread.ts';
import { workerFile } from '../util/worker-file.ts';

/** Loads a part of the program that opens a service; the service's first worker loads beside it. */
export function loadService<Module>(load: () => Promise<Module>): Promise<Module> {
  startThreadAhead(workerFile('service/engine-worker.ts'));
  return load();
}
