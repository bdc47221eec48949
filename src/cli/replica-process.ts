// The process of a replica: takes orders and connections from its primary, and ends with it.
import type { Socket } from 'node:net';
import type { FromReplica, ToReplica } from '../replica/message.ts';
import { Replica } from '../replica/replica.ts';
import { failCommand } from './exit.ts';
import { makeLogger, readLogLevels } from './log.ts';

process.title = 'rowan replica';

const [format, configPath] = process.argv.slice(2);

let replica: Replica | undefined;

// Signals to the whole group are the primary's business; without it there is nothing to do here.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGUSR2'] as const) process.on(signal, () => undefined);
process.on('disconnect', () => process.exit(0));
process.on('message', (message: ToReplica, socket: Socket | undefined) => {
  receive(message, socket).catch((thrown) => failCommand(thrown));
});

async function receive(message: ToReplica, socket: Socket | undefined): Promise<void> {
  switch (message.type) {
    case 'start': {
      const logger = makeLogger(readLogLevels(configPath), format === 'text');
      replica = await Replica.open(message.settings, logger, process.env.ROWAN_ADMIN_KEY);
      await replica.start();
      send({ type: 'ready' });
      return;
    }
    case 'change':
      replica?.apply(message.version, message.changed);
      send({ type: 'applied', version: message.version });
      return;
    case 'connection':
      send({ type: 'taken', connection: message.connection });
      // It can have been closed on its way.
      if (socket !== undefined) replica?.adopt(socket);
      return;
    case 'metrics':
      send({
        type: 'metrics',
        request: message.request,
        metrics: (await replica?.metrics()) ?? [],
      });
      return;
    case 'stop':
      await replica?.stop();
      process.exit(0);
  }
}

function send(message: FromReplica): void {
  if (process.connected) process.send?.(message);
}
