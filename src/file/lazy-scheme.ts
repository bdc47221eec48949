// A scheme whose code is loaded when it is first used.
import type { FileSink, Listing, ReadOptions, Scheme, SourceFile } from './scheme.ts';
import type { FileUrl } from './url.ts';

/** Stands for a scheme until it is first used. */
export class LazyScheme implements Scheme {
  readonly name: string;
  readonly hasEscapes: boolean;
  readonly #load: () => Promise<Required<Scheme>>;
  #loaded: Promise<Required<Scheme>> | undefined;

  constructor(
    { name, hasEscapes }: Required<Pick<Scheme, 'name' | 'hasEscapes'>>,
    load: () => Promise<Required<Scheme>>,
  ) {
    this.name = name;
    this.hasEscapes = hasEscapes;
    this.#load = load;
  }

  async open(url: FileUrl, options: ReadOptions): Promise<SourceFile> {
    return (await this.#scheme()).open(url, options);
  }

  async create(url: FileUrl): Promise<FileSink> {
    return (await this.#scheme()).create(url);
  }

  async list(url: FileUrl): Promise<Listing> {
    return (await this.#scheme()).list(url);
  }

  async *candidates(pattern: FileUrl, prefix: string): AsyncIterable<string> {
    yield* (await this.#scheme()).candidates(pattern, prefix);
  }

  #scheme(): Promise<Required<Scheme>> {
    this.#loaded ??= this.#load();
    return this.#loaded;
  }
}
