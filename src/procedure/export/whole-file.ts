// Files that appear under their names when they are whole, or not at all.
import type { FileSink } from '../../file/scheme.ts';
import type { ProcedureContext } from '../procedure-type.ts';

/** Writes a file as a whole. @returns what `write` returns */
export async function writeWholeFile<Result>(
  context: ProcedureContext,
  url: string,
  write: (sink: FileSink) => Promise<Result>,
): Promise<Result> {
  const sink = await context.files.create(url);
  try {
    const result = await write(sink);
    context.checkCancelled();
    await sink.commit();
    return result;
  } catch (thrown) {
    await sink.abort();
    throw thrown;
  }
}
