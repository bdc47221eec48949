// What changed from one tree to another, renamed and copied files found by their content.
import { type LineCounts, lineCounts } from './line-counts.ts';
import type { Repository, TreeEntry } from './repository.ts';

export type Operation = 'added' | 'deleted' | 'modified' | 'renamed' | 'copied';

export interface FileChange extends LineCounts {
  /** of a renamed or copied file the path that it had */
  readonly path: string;
  readonly operation: Operation;
}

interface Side {
  readonly path: string;
  readonly entry: TreeEntry;
}

interface Change {
  readonly before?: Side;
  readonly after?: Side;
}

/** Share of the content that must be alike, of the larger file. */
const SIMILARITY_MIN = 0.5;
/** More pairs than this are not compared. */
const PAIR_COUNT_MAX = 1_000_000;

/** Files that differ between two trees, by path. */
export async function treeChanges(
  repository: Repository,
  before: string,
  after: string,
  check: () => void,
): Promise<FileChange[]> {
  const changes: Change[] = [];
  await collect(repository, before, after, '', changes, check);
  const matched = await matchFiles(repository, changes, check);
  const contentOf = (side: Side | undefined) =>
    side === undefined ? undefined : contentOfSide(repository, side);
  const out: FileChange[] = [];
  for (const { before: old, after: young, operation } of matched) {
    check();
    // A copy counts as the new file that it is, as `git diff --numstat` counts it.
    const compared = operation === 'copied' ? undefined : old;
    const counts = lineCounts(await contentOf(compared), await contentOf(young), check);
    out.push({ path: ((old ?? young) as Side).path, operation, ...counts });
  }
  return out;
}

async function collect(
  repository: Repository,
  before: string | undefined,
  after: string | undefined,
  prefix: string,
  out: Change[],
  check: () => void,
): Promise<void> {
  if (before === after) return;
  check();
  const entriesOf = async (tree: string | undefined) =>
    new Map(
      tree === undefined ? [] : (await repository.tree(tree)).map((entry) => [entry.name, entry]),
    );
  const old = await entriesOf(before);
  const young = await entriesOf(after);
  for (const name of new Set([...old.keys(), ...young.keys()])) {
    const a = old.get(name);
    const b = young.get(name);
    if (a?.id === b?.id && a?.mode === b?.mode) continue;
    const path = prefix + name;
    const treeA = a?.kind === 'tree' ? a.id : undefined;
    const treeB = b?.kind === 'tree' ? b.id : undefined;
    if (treeA !== undefined || treeB !== undefined) {
      await collect(repository, treeA, treeB, `${path}/`, out, check);
    }
    const change = {
      ...(a === undefined || a.kind === 'tree' ? {} : { before: { path, entry: a } }),
      ...(b === undefined || b.kind === 'tree' ? {} : { after: { path, entry: b } }),
    };
    if (change.before !== undefined || change.after !== undefined) out.push(change);
  }
}

interface MatchedChange extends Change {
  readonly operation: Operation;
}

/** Pairs new files with the removed ones that they come from, else with changed ones. */
async function matchFiles(
  repository: Repository,
  changes: readonly Change[],
  check: () => void,
): Promise<MatchedChange[]> {
  const added = changes.flatMap(({ before, after }) => (!before && after ? [after] : []));
  const deleted = changes.flatMap(({ before, after }) => (before && !after ? [before] : []));
  const modified = changes.flatMap(({ before, after }) => (before && after ? [before] : []));
  const sources = new Map<Side, Side>();
  const renamed = new Set<Side>();
  const take = (young: Side, old: Side) => {
    sources.set(young, old);
    renamed.add(old);
  };
  const left = () => added.filter((side) => !sources.has(side));
  const leftOld = () => deleted.filter((side) => !renamed.has(side));
  // Of several files of the same content one that keeps its name comes first.
  for (const sameName of [true, false]) {
    for (const young of left()) {
      const old = leftOld().find(
        ({ path, entry }) =>
          entry.id === young.entry.id &&
          entry.kind === young.entry.kind &&
          (!sameName || nameOf(path) === nameOf(young.path)),
      );
      if (old !== undefined) take(young, old);
    }
  }
  const chunks = new ChunkCounts(repository);
  const alike = async (young: readonly Side[], old: readonly Side[]) => {
    const pairs: { young: Side; old: Side; similarity: number }[] = [];
    if (young.length * old.length > PAIR_COUNT_MAX) return pairs;
    for (const a of young) {
      for (const b of old) {
        check();
        const similarity = await chunks.similarity(b, a);
        if (similarity >= SIMILARITY_MIN) pairs.push({ young: a, old: b, similarity });
      }
    }
    return pairs.sort((a, b) => b.similarity - a.similarity);
  };
  for (const { young, old } of await alike(left(), leftOld())) {
    if (!sources.has(young) && !renamed.has(old)) take(young, old);
  }
  const copied = new Map<Side, Side>();
  for (const { young, old } of await alike(left(), [...modified, ...renamed])) {
    if (!copied.has(young)) copied.set(young, old);
  }
  return changes.flatMap((change): MatchedChange[] => {
    const { before, after } = change;
    if (before !== undefined && after !== undefined) return [{ ...change, operation: 'modified' }];
    if (after === undefined) {
      return renamed.has(before as Side) ? [] : [{ ...change, operation: 'deleted' }];
    }
    const source = sources.get(after);
    if (source !== undefined) return [{ before: source, after, operation: 'renamed' }];
    const original = copied.get(after);
    if (original !== undefined) return [{ before: original, after, operation: 'copied' }];
    return [{ after, operation: 'added' }];
  });
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** A submodule has no content here; Git shows the commit that it stands at. */
async function contentOfSide(repository: Repository, { entry }: Side): Promise<Buffer> {
  return entry.kind === 'commit'
    ? Buffer.from(`Subproject commit ${entry.id}\n`)
    : repository.file(entry.id);
}

/** A line, or 64 bytes of a longer one, is what files are compared by. */
const CHUNK_SIZE_MAX = 64;

/** How alike files are: bytes of the lines that both have. */
class ChunkCounts {
  readonly #repository: Repository;
  readonly #known = new Map<string, { size: number; chunks: Map<string, number> }>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  async similarity(old: Side, young: Side): Promise<number> {
    if (old.entry.kind !== 'blob' || young.entry.kind !== 'blob') return 0;
    const a = await this.#of(old);
    const b = await this.#of(young);
    const size = Math.max(a.size, b.size);
    if (Math.min(a.size, b.size) < size * SIMILARITY_MIN || a.size === 0) return 0;
    let shared = 0;
    for (const [chunk, count] of a.chunks) {
      shared += Math.min(count, b.chunks.get(chunk) ?? 0) * chunk.length;
    }
    return shared / size;
  }

  async #of(side: Side) {
    const known = this.#known.get(side.entry.id);
    if (known !== undefined) return known;
    const content = await contentOfSide(this.#repository, side);
    const chunks = new Map<string, number>();
    const text = content.toString('latin1');
    for (let at = 0; at < text.length; ) {
      const line = text.indexOf('\n', at);
      const end = Math.min(line === -1 ? text.length : line + 1, at + CHUNK_SIZE_MAX);
      const chunk = text.slice(at, end);
      chunks.set(chunk, (chunks.get(chunk) ?? 0) + 1);
      at = end;
    }
    const counted = { size: content.length, chunks };
    this.#known.set(side.entry.id, counted);
    return counted;
  }
}
