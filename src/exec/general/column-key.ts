// Column paths as keys of maps: printing is what makes them unambiguous.
import type { Path } from '../../value/path.ts';

export function keyOf(path: Path): string {
  return path.toString();
}
