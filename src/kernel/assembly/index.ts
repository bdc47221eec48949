// The one entry of the kernel module: a kernel is callable from TypeScript once its file stands here.
export * from './fill';
