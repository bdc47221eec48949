// Rows from cells: flat cells in natural order of their paths become nested rows.
import type { Path } from './path.ts';
import { Row, type Scalar, type Value } from './value.ts';

/**
 * @param paths in natural order, which puts a path before all that it is a prefix of
 * @param depth leading elements that all paths of [from, to) share
 */
export function nestCells(
  paths: readonly Path[],
  cells: readonly Scalar[],
  from = 0,
  to = cells.length,
  depth = 0,
): Row {
  const names: string[] = [];
  const values: Value[] = [];
  for (let i = from; i < to; ) {
    const path = paths[i] as Path;
    const name = path.elements[depth] as string;
    names.push(name);
    if (path.elements.length === depth + 1) {
      values.push(cells[i] as Scalar);
      i++;
      continue;
    }
    let end = i + 1;
    while (end < to && isBelow(paths[end] as Path, depth, name)) end++;
    values.push(nestCells(paths, cells, i, end, depth + 1));
    i = end;
  }
  return new Row(names, values);
}

function isBelow(path: Path, depth: number, name: string): boolean {
  return path.elements.length > depth + 1 && path.elements[depth] === name;
}
