// The parts that Rowan uses of libraries that come without types.
declare module 'negotiator' {
  // biome-ignore lint/style/noDefaultExport: that is how the library exports
  export default class Negotiator {
    constructor(request: { headers: Readonly<Record<string, string | undefined>> });
    /** Undefined when the client takes none. */
    mediaType(available: readonly string[]): string | undefined;
    /** @param options.preferred decides between codings of the same weight */
    encoding(
      available: readonly string[],
      options: { preferred: readonly string[] },
    ): string | undefined;
  }
}
