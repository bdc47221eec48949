import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { type Commit, Repository } from '../../format/git/repository.ts';
import { treeChanges } from '../../format/git/tree-changes.ts';
import { outputDataset, url } from '../../schema/declare.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';

const SHORT_ID_LENGTH = 8;

/** Records the commits of a Git repository, a row each. */
export const importRepo = workerProcedure({
  name: 'import.repo',
  aliases: ['import.git'],
  summary: 'Records the commits of a Git repository, a row each.',
  parameters: Type.Object({
    repository: url({ description: 'folder with a .git folder, or a bare repository (file://)' }),
    outputDataset: Type.Optional(
      outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
    ),
    revisions: Type.Array(Type.String(), {
      description:
        'where to begin: names, ids, ranges from..to, and patterns below refs/ such as tags/*',
      default: ['HEAD'],
    }),
    importStats: Type.Boolean({
      description: 'add how many lines and files each commit changed',
      default: false,
    }),
    importTree: Type.Boolean({
      description: 'add which files each commit changed, with the counts',
      default: false,
    }),
    ignoreUnknownEncodings: Type.Boolean({
      description: 'false: a message that is neither UTF-8 nor ISO-8859-1 is a fault',
      default: true,
    }),
    ...runOnCreation,
  }),
  async run(context, params) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const check = () => context.checkCancelled();
    const repository = await openRepository(context, params.repository);
    const { wanted, hidden } = await repository.revisions(params.revisions);
    const unwanted = await reachable(repository, hidden, new Set(), check);
    const ids = [...(await reachable(repository, wanted, unwanted, check))];
    const nameOf = rowNamesOf(ids);
    const output = context.output(params.outputDataset, 'sparse.mutable');
    for (const [index, id] of ids.entries()) {
      check();
      progress.update(index / ids.length);
      const commit = await repository.commit(id);
      const columns = commitColumns(commit, nameOf, params.ignoreUnknownEncodings);
      if (params.importStats || params.importTree) {
        columns.push(...(await changeColumns(repository, commit, params.importTree, context)));
      }
      const { time } = commit.committer;
      const cells = columns.map(([column, atom]): RecordedCell => [Path.of(column), atom, time]);
      output.record({ name: Path.of(nameOf(id)), cells });
    }
    output.commit();
    progress.finish();
    return {};
  },
});

async function openRepository({ files }: ProcedureContext, url: string): Promise<Repository> {
  const folder = await files.localFolder(url).catch((thrown: unknown) => {
    if (!(thrown instanceof RowanError) || thrown.code === 'FORBIDDEN') throw thrown;
    throw failure('DATA_ERROR', `Error opening git repository: ${thrown.message}`, { url });
  });
  return Repository.open(folder, url);
}

/** Commits that lead to some, with them; none of `without` nor what they come from. */
async function reachable(
  repository: Repository,
  from: readonly string[],
  without: ReadonlySet<string>,
  check: () => void,
): Promise<Set<string>> {
  const found = new Set<string>();
  const waiting = [...from];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (found.has(id) || without.has(id)) continue;
    check();
    found.add(id);
    waiting.push(...(await repository.commit(id)).parents);
  }
  return found;
}

/** The first digits of an id, or all where two commits have the same first ones. */
function rowNamesOf(ids: readonly string[]): (id: string) => string {
  const counts = new Map<string, number>();
  for (const id of ids) {
    const short = id.slice(0, SHORT_ID_LENGTH);
    counts.set(short, (counts.get(short) ?? 0) + 1);
  }
  return (id) => {
    const short = id.slice(0, SHORT_ID_LENGTH);
    return (counts.get(short) ?? 0) > 1 ? id : short;
  };
}

type Column = [name: string, atom: Atom];

function commitColumns(
  commit: Commit,
  nameOf: (id: string) => string,
  ignoresUnknownEncodings: boolean,
): Column[] {
  const { author, committer, parents, encoding, message } = commit;
  if (message === undefined && !ignoresUnknownEncodings) {
    throw failure(
      'DATA_ERROR',
      `the message of commit ${commit.id} is in encoding '${encoding}'; read are UTF-8 and ISO-8859-1; ignoreUnknownEncodings leaves such messages out`,
      { commit: commit.id, encoding },
    );
  }
  return [
    ['committer', committer.name],
    ['committerEmail', committer.email],
    ['author', author.name],
    ['authorEmail', author.email],
    ['message', message ?? `<<<couldn't decode message in ${encoding} character set>>>`],
    ['parentCount', parents.length],
    ...parents.map((parent): Column => ['parent', nameOf(parent)]),
  ];
}

async function changeColumns(
  repository: Repository,
  { tree, parents }: Commit,
  withFiles: boolean,
  context: ProcedureContext,
): Promise<Column[]> {
  const [parent, ...others] = parents;
  if (parent === undefined || others.length > 0) return [];
  const before = (await repository.commit(parent)).tree;
  const changes = await treeChanges(repository, before, tree, () => context.checkCancelled());
  const sum = (member: 'insertions' | 'deletions') =>
    changes.reduce((total, change) => total + change[member], 0);
  const columns: Column[] = [
    ['insertions', sum('insertions')],
    ['deletions', sum('deletions')],
    ['filesChanged', changes.length],
  ];
  if (!withFiles) return columns;
  for (const { path, insertions, deletions, operation } of changes) {
    columns.push(['file', path], [`file.${path}.op`, operation]);
    if (insertions > 0) columns.push([`file.${path}.insertions`, insertions]);
    if (deletions > 0) columns.push([`file.${path}.deletions`, deletions]);
  }
  return columns;
}
