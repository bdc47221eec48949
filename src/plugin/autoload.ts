// Plugins that are loaded when the service starts.
import { collectBytes } from '../file/byte-stream.ts';
import { parseConfig } from '../service/entity/config.ts';
import type { Service } from '../service/service.ts';
import { RowanError } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';

const CONFIG_NAMES = ['mldb_plugin.json', 'rowan_plugin.json'];
const DEPTH_MAX = 16;

interface PluginHost {
  readonly service: Service;
  /** where the plugins that were found lie */
  readonly startAddresses: Set<string>;
}

/**
 * Loads the plugin that a directory holds, or else every one below it. A plugin that cannot be
 * loaded is logged and left out.
 */
export async function loadPlugins(
  { service, startAddresses }: PluginHost,
  directory: string,
): Promise<void> {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(directory) ? directory : `file://${directory}`;
  await loadBelow({ service, startAddresses }, url.replace(/\/+$/, ''), 0);
}

async function loadBelow(host: PluginHost, url: string, depth: number): Promise<void> {
  const { service } = host;
  let listing: Awaited<ReturnType<Service['startFiles']['list']>>;
  try {
    listing = await service.startFiles.list(url);
  } catch (thrown) {
    service.logger.warn(
      { logger: 'plugin', url, err: thrown },
      `plugin directory ${url} cannot be read`,
    );
    return;
  }
  const config = listing.files.find((file) => CONFIG_NAMES.includes(baseName(file)));
  if (config !== undefined) {
    await loadPlugin(host, url, config);
    return;
  }
  if (depth >= DEPTH_MAX) return;
  for (const dir of [...listing.dirs].sort()) {
    await loadBelow(host, dir.replace(/\/+$/, ''), depth + 1);
  }
}

async function loadPlugin(
  { service, startAddresses }: PluginHost,
  directory: string,
  url: string,
): Promise<void> {
  try {
    const file = await service.startFiles.open(url);
    const json = parseJson(new TextDecoder().decode(await collectBytes(file.stream())));
    const config = parseConfig((json as { config?: unknown } | null)?.config);
    if (config.type !== 'javascript') {
      service.logger.warn(
        { logger: 'plugin', url },
        `plugin of type '${config.type}' is not supported: ${url}`,
      );
      return;
    }
    startAddresses.add(directory);
    // The directory is read at every start, so the plugin needs no other memory.
    await service.plugins.put({
      ...config,
      persistent: false,
      params: { ...config.params, address: directory },
    });
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    const details = thrown instanceof RowanError ? thrown.toBody() : { err: thrown };
    service.logger.warn(
      { logger: 'plugin', url, ...details },
      `plugin ${url} was not loaded: ${thrown.message}`,
    );
  }
}

function baseName(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
