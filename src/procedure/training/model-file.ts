// Model files: opened before training, so that a run does not find out at its end that it cannot
// write, and visible only when they are whole.
import type { FileSystem } from '../../file/file-system.ts';
import type { FileSink } from '../../file/scheme.ts';
import { encodeModelFile, type JsonObject } from '../../learn/model/container.ts';
import { RowanError } from '../../util/error.ts';
import type { ModelCard } from './model-card.ts';

export interface ModelFile {
  /** Writes the model's JSON, its card included, and makes the file visible. */
  save(model: JsonObject, card: ModelCard): Promise<void>;
  /** Leaves nothing behind. */
  abandon(): Promise<void>;
}

/** @throws what the scheme says, naming parameter and URL */
export async function openModelFile(files: FileSystem, url: string): Promise<ModelFile> {
  const sink = await createSink(files, url);
  return {
    async save(model, card) {
      await sink.write(encodeModelFile({ ...model, card }));
      await sink.commit();
    },
    abandon: () => sink.abort(),
  };
}

async function createSink(files: FileSystem, url: string): Promise<FileSink> {
  try {
    return await files.create(url);
  } catch (thrown) {
    if (!(thrown instanceof RowanError)) throw thrown;
    throw new RowanError(
      thrown.code,
      thrown.httpCode,
      `Error when trying to write to file specified in parameter 'modelFileUrl' (${url}): ${thrown.message}`,
      { ...thrown.details, url },
    );
  }
}

/** Opens the file, trains, saves; a failure or a cancel leaves no file. */
export async function withModelFile<Result>(
  files: FileSystem,
  url: string,
  train: (file: ModelFile) => Promise<Result>,
): Promise<Result> {
  const file = await openModelFile(files, url);
  try {
    return await train(file);
  } catch (thrown) {
    await file.abandon();
    throw thrown;
  }
}

/** As withModelFile; without a URL the model is not saved. */
export function withModelFileIfAny<Result>(
  files: FileSystem,
  url: string,
  train: (save: ModelFile['save']) => Promise<Result>,
): Promise<Result> {
  if (url === '') return train(async () => {});
  return withModelFile(files, url, (file) => train(file.save));
}
