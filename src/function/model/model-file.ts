// Reading model files for functions, once, when the function is created.
import { collectBytes } from '../../file/byte-stream.ts';
import { checkModelFile, readObject } from '../../learn/model/container.ts';
import { failure, RowanError } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { LoadContext, LoadedArtifact } from '../function-type.ts';

/**
 * What `read` makes of the JSON of a model file, and the model's card.
 * @throws what opening says, or DATA_ERROR naming the file when it is cut short or another model
 */
export async function loadModel<Model>(
  url: string,
  { files, checkCancelled }: LoadContext,
  read: (json: unknown) => Model,
): Promise<{ readonly data: Model; readonly card: LoadedArtifact['card'] }> {
  const file = await files.open(url);
  const bytes = await collectBytes(file.stream());
  checkCancelled();
  try {
    checkModelFile(bytes);
    const json = parseJson(new TextDecoder().decode(bytes), checkCancelled);
    return { data: read(json), card: cardOf(json) };
  } catch (thrown) {
    if (thrown instanceof RowanError && thrown.code === 'CANCELLED') throw thrown;
    if (!(thrown instanceof Error)) throw thrown;
    throw failure('DATA_ERROR', `cannot read the model file ${url}: ${thrown.message}`, { url });
  }
}

/** Files of earlier versions have none. */
function cardOf(json: unknown): LoadedArtifact['card'] {
  const { card } = json as { readonly card?: unknown };
  if (card === undefined) return undefined;
  return readObject(card, 'card');
}
