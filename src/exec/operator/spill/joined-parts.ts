// Joins of more rows than memory has room for: the rows of both sides go to a scratch file in parts of their
// keys, and are joined part by part. See DeWitt et al., "Implementation techniques for main memory database
// systems", SIGMOD 1984.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { ScratchWriter } from '../../../store/scratch-file.ts';
import type { ScratchRoom } from '../../vector/engine.ts';
import { joinPipelines, withOutputNames } from '../join/join.ts';
import { type Both, recode } from '../join/join-keys.ts';
import { materialize, type OperatorContext, TableForm } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { joinOutputs, madeOutputs } from '../outputs.ts';
import { type Output, Pipeline } from '../pipeline.ts';
import { RunMemory } from '../run-memory.ts';
import type { MadeTable } from '../table/batch-table.ts';
import { concatenate, type Part } from '../table/concatenate.ts';
import type { PartWord } from './partition-job.ts';
import { drawBounds, Parts, rowSizeOf } from './parts.ts';
import { roomInScratch } from './room.ts';
import { ChunkMover, movedColumns, scratchPart } from './scratch-table.ts';

/** Bytes of a built row in memory beside its columns: its place, and the entry of its key. */
const BUILT_SIZE = 40;
const VALUE_SIZE = 8;

interface Sides {
  readonly left: Pipeline;
  readonly right: Pipeline;
}

/** Pairs in any order. @throws NotSuited, DISK_FULL */
export function unorderedJoin(
  node: JoinNode,
  sides: Sides,
  named: boolean,
  context: OperatorContext,
): Pipeline {
  return (
    joinedParts(node, sides, named, context) ??
    joinPipelines(node, sides.left, sides.right, context)
  );
}

/** Pairs without names; undefined when the built side has room in memory. */
function joinedParts(
  node: JoinNode,
  sides: Sides,
  named: boolean,
  context: OperatorContext,
): Pipeline | undefined {
  const { joinKind, equalities, residual, own } = node;
  if (named || equalities.length === 0 || joinKind === 'full') return undefined;
  if (joinKind === 'semi' || joinKind === 'anti') return undefined;
  // Such joins are put together from others.
  if (joinKind !== 'inner' && (residual !== undefined || own[joinKind] !== undefined)) {
    return undefined;
  }
  const { left, right } = sides;
  const isRightBuilt =
    joinKind === 'left' || (joinKind === 'inner' && right.base.rowCount <= left.base.rowCount);
  const built = isRightBuilt ? right : left;
  const columnCount = built.outputs.list()?.length ?? 0;
  const builtSize = built.base.rowCount * (BUILT_SIZE + VALUE_SIZE * columnCount);
  const room = roomInScratch(builtSize, context.engine);
  return room && joinInScratch(node, sides, room, context);
}

/** @throws NotSuited, DISK_FULL */
function joinInScratch(
  node: JoinNode,
  { left, right }: Sides,
  room: ScratchRoom,
  context: OperatorContext,
): Pipeline {
  const { engine, tables } = context;
  context.memory.isLasting = true;
  const words = node.equalities.map((equality) =>
    wordsOfKey(
      {
        probe: suited(left.resolve(equality.left)),
        build: suited(right.resolve(equality.right)),
      },
      { left, right },
      context,
    ),
  );
  const options = [left, right].map((side, index) => ({
    room,
    form: new TableForm(side, suited(side.outputs.list()), context, false),
    words: words.map(({ probe, build }) => (index === 0 ? probe : build)),
    keepsWords: false,
  }));
  const [ofLeft, ofRight] = options as [(typeof options)[0], (typeof options)[0]];
  const sizeOf = ({ base }: Pipeline, { form }: typeof ofLeft) =>
    base.rowCount * rowSizeOf(form, words.length);
  const bounds =
    left.base.rowCount > right.base.rowCount
      ? drawBounds(left, ofLeft, sizeOf(right, ofRight), context)
      : drawBounds(right, ofRight, sizeOf(left, ofLeft), context);
  const leftParts = new Parts(left, { ...ofLeft, bounds }, context);
  const rightParts = new Parts(right, { ...ofRight, bounds }, context);
  const before = joinOutputs([
    { side: node.left, outputs: left.outputs },
    { side: node.right, outputs: right.outputs },
  ]);
  const presences = new Map<string, Output['presence']>();
  const made: Part[] = [];
  const writer = new ScratchWriter(room.file());
  try {
    const mover = new ChunkMover(room.file(), writer, engine.arenas);
    const partCount = leftParts.rowCounts.length;
    for (let part = 0; part < partCount; part++) {
      const isLast = part === partCount - 1 && made.length === 0;
      if (!isLast && !hasPairs(node, leftParts.rowCounts[part], rightParts.rowCounts[part]))
        continue;
      const memory = new RunMemory(engine.arenas, context.memory);
      try {
        const own = { ...context, memory };
        const joined = joinPipelines(
          node,
          withOutputNames(left, leftParts.load(part, own).pipeline),
          withOutputNames(right, rightParts.load(part, own).pipeline),
          own,
        );
        const list = suited(joined.outputs.list());
        for (const { path, presence } of list) {
          const name = path.join('\u0000');
          const known = presences.get(name);
          presences.set(name, known === 'mixed' ? known : (presence ?? known));
        }
        const { base } = materialize(joined, list, own, { named: false });
        const columns = movedColumns(base as MadeTable, mover);
        made.push(scratchPart(base.chunkRowCounts, columns, tables));
      } finally {
        memory.release();
      }
    }
  } finally {
    writer.close();
  }
  const all = concatenate(made, context, { named: false });
  const outputs = {
    ...before,
    list: () =>
      before.list()?.map((output) => {
        return { ...output, presence: presences.get(output.path.join('\u0000')) };
      }),
  };
  const after = new Pipeline(all.base, madeOutputs(all.base as MadeTable), all.namer, tables);
  return withOutputNames({ outputs }, after);
}

/** Whether rows of a part can come out of the join. */
function hasPairs({ joinKind }: JoinNode, left = 0, right = 0): boolean {
  if (joinKind === 'left') return left > 0;
  if (joinKind === 'right') return right > 0;
  return left > 0 && right > 0;
}

/** Words that are the same where keys are; `probe` is the left side. @throws NotSuited */
function wordsOfKey(
  key: Both<BoundExpression>,
  { left, right }: Sides,
  { tables }: OperatorContext,
): Both<PartWord> {
  const ours = left.lowering.numbers(key.probe);
  const theirs = right.lowering.numbers(key.build);
  if (ours !== undefined && theirs !== undefined) {
    // A timestamp is equal to no number.
    if (ours.isTimestamp !== theirs.isTimestamp) throw new NotSuited();
    const wordOf = ({ program }: typeof ours): PartWord => ({
      kind: 'order',
      word: { kind: 'double', descending: false, numbers: program },
    });
    return { probe: wordOf(ours), build: wordOf(theirs) };
  }
  if (ours !== undefined || theirs !== undefined) throw new NotSuited();
  const ourCodes = suited(left.lowering.codes(key.probe));
  const theirCodes = suited(right.lowering.codes(key.build));
  const wordOf = (ranks: typeof theirCodes.program): PartWord => ({
    kind: 'order',
    word: {
      kind: 'packed',
      keys: [{ descending: false, bits: 32, top: 0, source: { ranks } }],
      tail: undefined,
    },
  });
  return {
    probe: wordOf(recode(ourCodes, theirCodes, tables)),
    build: wordOf(theirCodes.program),
  };
}
