// The one entry of the kernel module: a kernel is callable from TypeScript once its file stands here.
export * from './aggregate';
export * from './arithmetic';
export * from './block-program';
export * from './csv-code';
export * from './csv-index';
export * from './csv-number';
export * from './fill';
export * from './filter';
export * from './group';
export * from './join';
export * from './order';
export * from './row-hash';
export * from './sort';
export * from './bin';
export * from './forest-train';
export * from './tree-predict';
export * from './tree-split';
