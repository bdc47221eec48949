// What a module exports, as documents.
import type { Documented } from './document.ts';

export type ExportDescription =
  | {
      readonly type: 'function';
      readonly source: string;
      readonly summary?: string;
      readonly markdown?: string;
    }
  | { readonly type: 'value'; readonly value: unknown };

export interface ModuleDescription {
  readonly markdown: string;
  readonly exports: Readonly<Record<string, ExportDescription>>;
}

export function describeModule(module: object): ModuleDescription {
  const members = Object.entries(module).filter(([name]) => !name.startsWith('__'));
  return {
    markdown: (module as Documented).__markdown ?? '',
    exports: Object.fromEntries(members.map(([name, value]) => [name, describe(value)])),
  };
}

function describe(value: unknown): ExportDescription {
  if (typeof value !== 'function') return { type: 'value', value };
  const { __summary, __markdown } = value as Documented;
  return {
    type: 'function',
    source: Function.prototype.toString.call(value),
    ...(__summary === undefined ? {} : { summary: __summary }),
    ...(__markdown === undefined ? {} : { markdown: __markdown }),
  };
}
