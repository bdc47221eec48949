// `rowan keys`: API keys of a data directory, whether its server runs or not.
import { type Command, Option } from 'commander';
import type { KeyStore } from '../rest/key/key-store.ts';
import { failCommand } from './exit.ts';

/** Adds `rowan keys` with `create`, `list` and `revoke`. */
export function addKeysCommand(program: Command): void {
  const keys = program.command('keys').description('make, list and revoke API keys');
  const dataDir = () =>
    new Option('--data-dir <dir>', 'data directory of the server (or ROWAN_DATA_DIR)')
      .default('./rowan_data')
      .env('ROWAN_DATA_DIR');
  keys
    .command('create')
    .description('make a key; it is printed once and never again')
    .addOption(
      new Option('--role <role>', 'what its holder may do')
        .choices(['reader', 'editor', 'admin'])
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'what the key is for')
    .option('--expires <date>', 'date after which it is refused, for example 2027-01-01')
    .addOption(dataDir())
    .action(async ({ dataDir: directory, ...request }) => {
      await withStore(directory, async (store) => {
        const { rememberKeysIn } = await import('../rest/key/known-keys.ts');
        await rememberKeysIn(directory);
        const { key, stored } = await store.create(request);
        const { isExpired } = await import('../rest/key/api-key.ts');
        const note = isExpired(stored) ? ', which has expired already' : '';
        process.stderr.write(`key ${stored.id} with role ${stored.role}${note}\n`);
        process.stdout.write(`${key}\n`);
      });
    });
  keys
    .command('list')
    .description('list keys as lines of JSON, without the keys themselves')
    .addOption(dataDir())
    .action(({ dataDir: directory }) =>
      withStore(directory, async (store) => {
        for (const { hash: _, ...shown } of store.keys) {
          process.stdout.write(`${JSON.stringify(shown)}\n`);
        }
      }),
    );
  keys
    .command('revoke <id>')
    .description('revoke a key; a running server refuses it within a second')
    .addOption(dataDir())
    .action((id: string, { dataDir: directory }) =>
      withStore(directory, async (store) => {
        let hasAdmin = true;
        const wasThere = await store.revoke(id, (remaining) => {
          hasAdmin = remaining.some(({ role }) => role === 'admin');
        });
        if (!wasThere) throw new Error(`no key '${id}'`);
        if (!hasAdmin) process.stderr.write('no admin key is left\n');
      }),
    );
}

async function withStore(
  directory: string,
  use: (store: KeyStore) => Promise<void>,
): Promise<void> {
  try {
    if (directory === 'none') throw new Error('--data-dir none keeps no keys');
    const { KeyStore } = await import('../rest/key/key-store.ts');
    const store = new KeyStore(directory);
    await use(store);
    store.close();
  } catch (thrown) {
    failCommand(thrown);
  }
}
