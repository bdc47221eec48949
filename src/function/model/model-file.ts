// Reading model files for functions, once, when the function is created.
import { collectBytes } from '../../file/byte-stream.ts';
import { failure, RowanError } from '../../util/error.ts';
import { parseJson } from '../../util/exact-json.ts';
import type { LoadContext } from '../function-type.ts';

/**
 * The JSON of a model file as `read` makes something of it.
 * @throws what opening says, or DATA_ERROR naming the file when it is cut short or another model
 */
export async function loadModel<Model>(
  url: string,
  { files, checkCancelled }: LoadContext,
  read: (json: unknown) => Model,
): Promise<Model> {
  const file = await files.open(url);
  const bytes = await collectBytes(file.stream());
  checkCancelled();
  try {
    return read(parseJson(new TextDecoder().decode(bytes), checkCancelled));
  } catch (thrown) {
    if (thrown instanceof RowanError && thrown.code === 'CANCELLED') throw thrown;
    if (!(thrown instanceof Error)) throw thrown;
    throw failure('DATA_ERROR', `cannot read the model file ${url}: ${thrown.message}`, { url });
  }
}
