// Nodes of trees as they lie in memory; tree-predict.ts says how a walk reads them.

/** Bytes of a packed node. */
@shared
export const NODE_SIZE: i32 = 8;
/** Columns that the nodes of one model can name. */
@shared
export const NODE_COLUMN_MAX: u32 = 0x8000;
/** Set in a node when no training row was missing at it: a missing value ends the walk. */
@shared
export const NODE_STOPS_MISSING: u32 = 0x8000;
/** The test of a leaf: threshold 255, offset 0, column 0, which sends nothing to the right. */
@shared
export const NODE_LEAF: u32 = 0x00ff_0000;

/** A node of a tree with sets: the column in these many bits, the number of its set above them. */
@shared
export const SET_NODE_COLUMN_BITS: u32 = 14;
/** Sets that the nodes of one model can name. */
@shared
export const SET_COUNT_MAX: u32 = 1 << 18;
/** Bytes of a set of codes. */
@shared
export const SET_SIZE: u32 = 32;
