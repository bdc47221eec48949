import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those that it lies in. The option `recursive` of mkdir never ends where a file system
 * answers ENOENT to mkdir itself, as /proc does.
 */
export async function makeFolders(path: string): Promise<void> {
  const missing: string[] = [];
  let folder = path;
  while (await isMissing(folder)) {
    missing.push(folder);
    folder = dirname(folder);
  }
  for (const next of missing.reverse()) {
    await mkdir(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function isMissing(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}
