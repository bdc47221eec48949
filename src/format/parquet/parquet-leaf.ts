// Where the values of a leaf of a Parquet schema go: names, positions in lists, and keys of maps make
// the paths of columns.
import type { SchemaTree } from 'hyparquet';

/** An element of the path of a value. */
export type Step =
  | { readonly kind: 'name'; readonly name: string }
  /** the position in the list that repeats at this level, counted from 1 */
  | { readonly kind: 'index'; readonly level: number }
  /** the key of the map that repeats at this level */
  | { readonly kind: 'key'; readonly level: number; readonly keys: string };

export interface Leaf {
  /** name of the leaf in the file, dots between its elements */
  readonly id: string;
  readonly steps: readonly Step[];
  readonly repetitionMax: number;
  readonly definitionMax: number;
  /** definition level from which on an entry of each list or map exists, by its level - 1 */
  readonly entryLevels: readonly number[];
  /** the leaf is the keys of a map, which are names and no values */
  readonly isKey: boolean;
  /** true: the leaf is an element of a list */
  readonly isElement: boolean;
}

/** @param path the nodes from the root down to the leaf */
export function leafOf(path: readonly SchemaTree[]): Leaf {
  const steps: Step[] = [];
  const entryLevels: number[] = [];
  let repetition = 0;
  let definition = 0;
  let isKey = false;
  let isElement = false;
  for (let i = 1; i < path.length; i++) {
    const node = path[i] as SchemaTree;
    const parent = path[i - 1] as SchemaTree;
    const { element } = node;
    if (element.repetition_type !== 'REQUIRED') definition++;
    const inList = i > 1 && isList(parent);
    const inMap = i > 1 && isMap(parent);
    isElement = false;
    if (element.repetition_type === 'REPEATED') {
      repetition++;
      entryLevels.push(definition);
      if (inMap) {
        const [key] = node.children;
        const keys = (key as SchemaTree).path.join('.');
        const next = path[i + 1] as SchemaTree;
        isKey = next === key;
        steps.push({ kind: 'key', level: repetition, keys });
        // The names of key and value are those of the format.
        if (next.element.repetition_type !== 'REQUIRED') definition++;
        i++;
        continue;
      }
      if (!inList) steps.push({ kind: 'name', name: element.name });
      steps.push({ kind: 'index', level: repetition });
      isElement = i === path.length - 1;
      if (inList && wrapsElement(node, parent) && i + 1 < path.length) {
        const next = path[i + 1] as SchemaTree;
        if (next.element.repetition_type !== 'REQUIRED') definition++;
        i++;
        isElement = i === path.length - 1;
      }
      continue;
    }
    steps.push({ kind: 'name', name: element.name });
  }
  return {
    id: (path[path.length - 1] as SchemaTree).path.join('.'),
    steps,
    repetitionMax: repetition,
    definitionMax: definition,
    entryLevels,
    isKey,
    isElement,
  };
}

function isList({ element, children }: SchemaTree): boolean {
  const isMarked = element.converted_type === 'LIST' || element.logical_type?.type === 'LIST';
  return isMarked && children.length === 1;
}

function isMap({ element, children }: SchemaTree): boolean {
  const [entry] = children;
  return (
    (element.converted_type === 'MAP' ||
      element.converted_type === 'MAP_KEY_VALUE' ||
      element.logical_type?.type === 'MAP') &&
    children.length === 1 &&
    entry?.children.length === 2
  );
}

/** Files of old writers leave out the group around each element. */
function wrapsElement(repeated: SchemaTree, list: SchemaTree): boolean {
  const { name } = repeated.element;
  return (
    repeated.children.length === 1 && name !== 'array' && name !== `${list.element.name}_tuple`
  );
}
