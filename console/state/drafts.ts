// Drafts of queries, one for each tab of the SQL screen, and the history of what was run.
import { signal } from '@preact/signals';
import { readAll, readSetting, update, writeSetting } from './store.ts';

export interface Draft {
  readonly id: string;
  readonly title: string;
  readonly text: string;
  /** counts what was saved; tells what another window has written */
  readonly version: number;
  readonly order: number;
  /** counts changes that the editor did not make */
  readonly revision?: number;
}

export interface HistoryEntry {
  /** milliseconds since the epoch, by the clock of this machine */
  readonly at: number;
  readonly sql: string;
  readonly milliseconds: number;
  readonly rowCount: number;
  readonly outcome: string;
}

const SAVE_DELAY_MS = 300;
const HISTORY_COUNT_MAX = 500;

export const drafts = signal<readonly Draft[]>([]);
export const currentDraft = signal<string>('');
export const history = signal<readonly HistoryEntry[]>([]);
const timers = new Map<string, ReturnType<typeof setTimeout>>();
let opened: Promise<void> | undefined;

/** Reads what was kept, once. */
export function openDrafts(): Promise<void> {
  opened ??= (async () => {
    const kept = new Map(await readAll<Draft>('draft'));
    const unsaved = unsavedDrafts().filter(
      ({ id, version }) => (kept.get(id)?.version ?? 0) <= version,
    );
    for (const draft of unsaved) kept.set(draft.id, draft);
    drafts.value = [...kept.values()].sort((a, b) => a.order - b.order);
    for (const { id } of unsaved) save(id);
    if (drafts.value.length === 0) addDraft('');
    const last = readSetting('draft');
    const isThere = drafts.value.some(({ id }) => id === last);
    currentDraft.value = isThere && last !== undefined ? last : (drafts.value[0] as Draft).id;
    history.value = (await readAll<HistoryEntry>('history')).map(([, entry]) => entry).reverse();
  })();
  return opened;
}

export function draftOf(id: string): Draft | undefined {
  return drafts.value.find((draft) => draft.id === id);
}

export function chooseDraft(id: string): void {
  currentDraft.value = id;
  writeSetting('draft', id);
}

export function addDraft(text: string): Draft {
  const order = Math.max(0, ...drafts.value.map((draft) => draft.order)) + 1;
  const numbers = new Set(drafts.value.map(({ title }) => title));
  let number = 1;
  while (numbers.has(`Query ${number}`)) number++;
  const draft = { id: newId(), title: `Query ${number}`, text, version: 0, order };
  drafts.value = [...drafts.value, draft];
  chooseDraft(draft.id);
  if (text !== '') save(draft.id);
  return draft;
}

export function changeDraft(id: string, change: Partial<Pick<Draft, 'text' | 'title'>>): void {
  drafts.value = drafts.value.map((draft) => (draft.id === id ? { ...draft, ...change } : draft));
  clearTimeout(timers.get(id));
  timers.set(
    id,
    setTimeout(() => save(id), SAVE_DELAY_MS),
  );
}

/** Gives a draft another text, which its editor then shows. */
export function rewriteDraft(id: string, text: string): void {
  const revision = (draftOf(id)?.revision ?? 0) + 1;
  drafts.value = drafts.value.map((draft) => (draft.id === id ? { ...draft, revision } : draft));
  changeDraft(id, { text });
}

/** @returns what brings it back */
export function removeDraft(id: string): () => void {
  const removed = draftOf(id) as Draft;
  const index = drafts.value.indexOf(removed);
  drafts.value = drafts.value.filter((draft) => draft.id !== id);
  void update<Draft>('draft', id, () => undefined);
  if (drafts.value.length === 0) addDraft('');
  if (currentDraft.value === id) {
    chooseDraft((drafts.value[Math.max(0, index - 1)] as Draft).id);
  }
  return () => {
    drafts.value = [...drafts.value, removed].sort((a, b) => a.order - b.order);
    chooseDraft(id);
    save(id);
  };
}

/** What another window wrote meanwhile is kept beside it, as a draft of its own. */
function save(id: string): void {
  timers.delete(id);
  const draft = draftOf(id);
  if (draft === undefined) return;
  const next = { ...draft, version: draft.version + 1 };
  let theirs: Draft | undefined;
  void update<Draft>('draft', id, (current) => {
    const isForeign =
      current !== undefined && current.version > draft.version && current.text !== draft.text;
    if (isForeign) theirs = current;
    return isForeign ? { ...next, version: current.version + 1 } : next;
  }).then(() => {
    const version = Math.max(next.version, (theirs?.version ?? 0) + 1);
    drafts.value = drafts.value.map((each) => (each.id === id ? { ...each, version } : each));
    if (theirs !== undefined) keepTheirs(theirs);
  });
}

function keepTheirs(theirs: Draft): void {
  const copy = {
    ...theirs,
    id: newId(),
    title: `${theirs.title} (other window)`,
    order: theirs.order + 0.5,
  };
  drafts.value = [...drafts.value, copy].sort((a, b) => a.order - b.order);
  void update<Draft>('draft', copy.id, () => copy);
}

const UNSAVED = 'unsaved-drafts';

/** Saves at once what waits. A page that is left may not live until the database is done. */
function saveAll(): void {
  const waiting = [...timers.keys()];
  if (waiting.length === 0) return;
  const texts = drafts.value.filter(({ id }) => waiting.includes(id));
  writeSetting(UNSAVED, JSON.stringify(texts));
  for (const [id, timer] of timers) {
    clearTimeout(timer);
    save(id);
  }
}

/** What the page could not save when it was left. */
function unsavedDrafts(): Draft[] {
  try {
    return JSON.parse(readSetting(UNSAVED) ?? '[]') as Draft[];
  } catch {
    return [];
  } finally {
    writeSetting(UNSAVED, undefined);
  }
}

addEventListener('pagehide', saveAll);
addEventListener('visibilitychange', saveAll);

export function remember(entry: HistoryEntry): void {
  const key = `${String(entry.at).padStart(16, '0')}-${Math.random().toString(36).slice(2, 8)}`;
  history.value = [entry, ...history.value].slice(0, HISTORY_COUNT_MAX);
  void update<HistoryEntry>('history', key, () => entry).then(trimHistory);
}

async function trimHistory(): Promise<void> {
  const kept = await readAll<HistoryEntry>('history');
  for (const [key] of kept.slice(0, Math.max(0, kept.length - HISTORY_COUNT_MAX))) {
    await update<HistoryEntry>('history', key, () => undefined);
  }
}

export async function forgetHistory(): Promise<void> {
  history.value = [];
  for (const [key] of await readAll<HistoryEntry>('history')) {
    await update<HistoryEntry>('history', key, () => undefined);
  }
}

function newId(): string {
  return `${Date.now().toString(36)}${Math.random().toString(36).slice(2, 8)}`;
}
