// The part of the WebAssembly interface that Rowan uses. TypeScript declares it only together with
// the browser's DOM, which is kept out of this project's types.
declare namespace WebAssembly {
  type ExportValue = ((...values: never[]) => unknown) | Memory | Global;

  interface MemoryDescriptor {
    initial: number;
    maximum?: number;
    shared?: boolean;
  }

  /** Counted in pages of 64 KiB. */
  class Memory {
    constructor(descriptor: MemoryDescriptor);
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
    grow(delta: number): number;
  }

  class Global<T = number | bigint> {
    value: T;
  }

  class Module {
    constructor(bytes: Uint8Array | ArrayBuffer);
  }

  class Instance {
    constructor(module: Module, imports?: Record<string, Record<string, ExportValue>>);
    readonly exports: Record<string, ExportValue>;
  }

  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}
}
