// Pages of the guide: the Markdown files that are shipped beside the program.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reply } from '../../service/route/request.ts';
import { packageFile } from '../../util/package-file.ts';

export interface GuideFile {
  /** below /doc, with its slash */
  readonly path: string;
  readonly file: string;
  readonly title: string;
}

const FOLDER = fileURLToPath(packageFile('docs'));

/** Decisions are for those who change the program. */
const SHOWN_FOLDERS = ['', 'guide'];

/** The pages in the order of their file names; those of the start come first. */
export function guideFiles(): GuideFile[] {
  return SHOWN_FOLDERS.flatMap((folder) => {
    const directory = join(FOLDER, folder);
    if (!existsSync(directory)) return [];
    const names = readdirSync(directory).filter((name) => name.endsWith('.md'));
    return names.sort().map((name) => {
      const file = join(directory, name);
      const title = /^#\s+(.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? basename(name, '.md');
      return { path: `/${folder === '' ? '' : `${folder}/`}${name}.html`, file, title };
    });
  });
}

/** A picture of the guide; undefined for other paths, and where it was left out. @param path below /doc */
export function guidePicture(path: string): Reply | undefined {
  const name = /^\/guide\/picture\/([a-z-]+\.png)$/.exec(path)?.[1];
  const file = name === undefined ? undefined : join(FOLDER, 'guide/picture', name);
  if (file === undefined || !existsSync(file)) return undefined;
  return {
    status: 200,
    contentType: 'image/png',
    headers: { 'Cache-Control': 'max-age=3600' },
    bytes: readFileSync(file),
  };
}
