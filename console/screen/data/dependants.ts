// What names a dataset in its configuration: by its id, or in a statement.
import { datasetsOf } from '../../part/sql/text.ts';
import { call, entityPath } from '../../state/api.ts';
import type { EntityDocument } from '../../state/catalogue.ts';

export interface Dependant {
  readonly id: string;
  readonly noun: string;
  readonly type: string;
  readonly screen: string;
  /** the parameter that names it */
  readonly where: string;
}

const KINDS = [
  { plural: 'datasets', noun: 'dataset', screen: 'data' },
  { plural: 'functions', noun: 'function', screen: 'models' },
  { plural: 'procedures', noun: 'procedure', screen: 'runs' },
] as const;

/** Documents that are asked for side by side. */
const ASKED_AT_ONCE = 64;

export async function dependantsOf(dataset: string): Promise<Dependant[]> {
  const found = await Promise.all(
    KINDS.map(async ({ plural, noun, screen }) => {
      const ids = await call<string[]>('GET', `/v1/${plural}`, { isSilent: true });
      const documents: (EntityDocument | undefined)[] = [];
      for (let from = 0; from < ids.length; from += ASKED_AT_ONCE) {
        const asked = ids.slice(from, from + ASKED_AT_ONCE).map((id) => documentOf(plural, id));
        documents.push(...(await Promise.all(asked)));
      }
      return documents.flatMap((document): Dependant[] => {
        if (document === undefined || (plural === 'datasets' && document.id === dataset)) return [];
        const where = placeOf(dataset, document.config?.params, '');
        const type = document.type ?? '';
        const id =
          document.config === undefined
            ? document.id
            : ((document.config as { id?: string }).id ?? document.id);
        return where === undefined ? [] : [{ id, noun, type, screen, where }];
      });
    }),
  );
  return found.flat();
}

/** undefined: it was deleted meanwhile, or cannot be read. */
function documentOf(plural: string, id: string): Promise<EntityDocument | undefined> {
  const path = entityPath(plural, id);
  return call<EntityDocument>('GET', path, { isSilent: true }).catch(() => undefined);
}

/** The path of the first member that names the dataset. */
function placeOf(dataset: string, value: unknown, path: string): string | undefined {
  if (typeof value === 'string') {
    const isNamed = /^\s*select\b/i.test(value)
      ? datasetsOf(value).includes(dataset)
      : value === dataset;
    return isNamed ? path : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = placeOf(dataset, member, path === '' ? name : `${path}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}
