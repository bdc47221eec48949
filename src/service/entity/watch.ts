// Watching collections: what they hold now, then each change, until the client closes the connection.
import type { EntityKind } from '../../dataset/entity-type.ts';
import { ENTITY_KINDS } from '../../dataset/entity-type.ts';
import { failure, type RowanError } from '../../util/error.ts';
import { previewJson } from '../../value/json.ts';
import type { CollectionObserver, EntityCollection, LiveEntity } from './collection.ts';
import { pluralOf } from './config.ts';

/** One level of a path from the root to what is watched. */
export interface WatchLevel {
  readonly channel: string;
  /** an id, or `*` for all */
  readonly filter: string;
}

export interface Watched {
  /** what is told first */
  readonly existing: readonly unknown[];
  /** Tells each change. @returns what ends it */
  watch(tell: (event: unknown) => void): () => void;
}

type CollectionChange = Parameters<CollectionObserver>[0];

const CHANNELS = ['names', 'children', 'elements', 'config', 'status'] as const;
type Channel = (typeof CHANNELS)[number];
const EVENT_NAMES = { new: 'NEW', updated: 'UPDATED', deleted: 'DELETED' } as const;

/** A client this far behind is disconnected: it could not tell which events it missed. */
const PENDING_COUNT_MAX = 10_000;

/** @throws INVALID_PARAMETER */
export function parseWatch(json: unknown): WatchLevel[] {
  if (!Array.isArray(json) || json.length === 0) {
    throw failure(
      'INVALID_PARAMETER',
      `watch: an array of {"channel", "filter"} was expected; instead got ${previewJson(json)}`,
    );
  }
  return json.map((level, index) => {
    const { channel, filter = '*', ...rest } = (level ?? {}) as Record<string, unknown>;
    const isLevel = typeof channel === 'string' && typeof filter === 'string';
    if (!isLevel || Object.keys(rest).length > 0) {
      throw failure(
        'INVALID_PARAMETER',
        `watch[${index}]: {"channel", "filter"} of texts was expected; instead got ${previewJson(level)}`,
      );
    }
    return { channel, filter };
  });
}

/**
 * Finds what the levels name: the collections themselves, or the entries of some of them.
 * @throws INVALID_PARAMETER for a channel or a level that is none
 */
export function watchedAt(
  levels: readonly WatchLevel[],
  collection: (kind: EntityKind) => EntityCollection<LiveEntity>,
): Watched {
  const [first, second] = levels as [WatchLevel, WatchLevel | undefined];
  const kinds = ENTITY_KINDS.filter((kind) => matches(first.filter, pluralOf(kind)));
  if (kinds.length === 0) {
    throw refused(`there is no collection '${first.filter}'`, ENTITY_KINDS.map(pluralOf));
  }
  if (levels.length > 2) throw refused('entities have no levels below them', []);
  if (second === undefined) return watchedRoot(kinds, channelOf(first));
  if (channelOf(first) !== 'children' && channelOf(first) !== 'elements') {
    throw refused(`channel '${first.channel}' leads nowhere`, ['children', 'elements']);
  }
  const channel = channelOf(second);
  const parts = kinds.map((kind) => watchedEntries(collection(kind), channel, second.filter));
  return {
    existing: parts.flatMap(({ existing }) => existing),
    watch(tell) {
      const ends = parts.map((part) => part.watch(tell));
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

function channelOf({ channel }: WatchLevel): Channel {
  if ((CHANNELS as readonly string[]).includes(channel)) return channel as Channel;
  throw refused(`unknown channel '${channel}'`, CHANNELS);
}

function refused(what: string, accepted: readonly string[]): RowanError {
  const text = accepted.length === 0 ? what : `${what}; accepted are ${accepted.join(', ')}`;
  return failure('INVALID_PARAMETER', `watch: ${text}`, { accepted });
}

function matches(filter: string, id: string): boolean {
  return filter === '*' || filter === id;
}

/** The collections never change. */
function watchedRoot(kinds: readonly EntityKind[], channel: Channel): Watched {
  if (channel === 'config' || channel === 'status') {
    throw refused(`collections have no channel '${channel}'`, ['names', 'children', 'elements']);
  }
  return {
    existing: kinds.map((kind) =>
      channel === 'names' ? `+${pluralOf(kind)}` : { event: 'NEW', name: pluralOf(kind) },
    ),
    watch: () => () => {},
  };
}

function watchedEntries(
  collection: EntityCollection<LiveEntity>,
  channel: Channel,
  filter: string,
): Watched {
  const eventOf = (change: CollectionChange, id: string) =>
    eventIn(collection, channel, change, id);
  return {
    existing: collection
      .ids()
      .filter((id) => matches(filter, id))
      .flatMap((id) => eventOf('new', id)),
    watch: (tell) =>
      collection.observe((change, id) => {
        if (matches(filter, id)) for (const event of eventOf(change, id)) tell(event);
      }),
  };
}

/** At most one event. */
function eventIn(
  collection: EntityCollection<LiveEntity>,
  channel: Channel,
  change: CollectionChange,
  id: string,
): unknown[] {
  switch (channel) {
    case 'names':
      if (change === 'new') return [`+${id}`];
      return change === 'deleted' ? [`-${id}`] : [];
    case 'children':
    case 'elements':
      return change === 'state' ? [] : [{ event: EVENT_NAMES[change], name: id }];
    case 'config':
      return change === 'new' || change === 'updated' ? [collection.statusDocument(id).config] : [];
    case 'status':
      return change === 'deleted' ? [] : [collection.statusDocument(id)];
  }
}

/**
 * Events one after the other, the existing ones first; ends when the signal aborts. What changes
 * is kept from now on, not only when the first event is asked for.
 * @throws OVERLOADED when the reader is too far behind
 */
export function watchEvents(watched: Watched, signal: AbortSignal): AsyncGenerator<unknown> {
  const queue = new EventQueue(watched.existing);
  const stop = watched.watch((event) => queue.push(event));
  const end = () => {
    stop();
    queue.end();
  };
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  return readEvents(queue, () => {
    signal.removeEventListener('abort', end);
    end();
  });
}

async function* readEvents(queue: EventQueue, close: () => void): AsyncGenerator<unknown> {
  try {
    for (;;) {
      const events = await queue.take();
      if (events === undefined) return;
      yield* events;
    }
  } finally {
    close();
  }
}

class EventQueue {
  #pending: unknown[];
  readonly #countMax: number;
  #isOver = false;
  #wake: () => void = () => {};

  constructor(first: readonly unknown[]) {
    this.#pending = [...first];
    this.#countMax = first.length + PENDING_COUNT_MAX;
  }

  push(event: unknown): void {
    // One more is kept, which tells the reader that there were too many.
    if (this.#pending.length <= this.#countMax) this.#pending.push(event);
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** At least one event; undefined when there will be no more. */
  async take(): Promise<readonly unknown[] | undefined> {
    while (!this.#isOver && this.#pending.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#isOver) return undefined;
    if (this.#pending.length > this.#countMax) {
      throw failure('OVERLOADED', 'the reader of a watch is too far behind');
    }
    const events = this.#pending;
    this.#pending = [];
    return events;
  }
}
