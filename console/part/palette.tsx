// Go anywhere, do anything, by typing a part of its name.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { go } from '../route.ts';
import { cached, may } from '../state/catalogue.ts';
import { Dialog } from './dialog.tsx';
import { isDrawerOpen } from './drawer.tsx';

interface Entry {
  readonly title: string;
  readonly kind: string;
  readonly run: () => void;
}

const SHOWN_MAX = 60;
const NONE: readonly string[] = [];

export function Palette({
  screens,
  onHelp,
  onClose,
}: {
  readonly screens: Readonly<
    Record<string, { readonly title: string; readonly isInner?: boolean }>
  >;
  readonly onHelp: () => void;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const [isEntered, setEntered] = useState(false);
  const lists = ['datasets', 'functions', 'procedures', 'plugins'].map((kind) =>
    cached<string[]>(`/v1/${kind}`),
  );
  const [datasets = [], functions = [], procedures = [], plugins = []] = lists.map(
    ({ value }) => value ?? NONE,
  );
  const isComplete = lists.every(({ value, error }) => value !== undefined || error !== undefined);
  const entries = useMemo((): Entry[] => {
    const places = Object.entries(screens).filter(([, { isInner }]) => isInner !== true);
    const isEditor = may('editor');
    return [
      ...places.map(([id, { title }]) => ({
        title,
        kind: 'screen',
        run: () => go(id === 'home' ? [] : [id]),
      })),
      { title: 'New query', kind: 'do', run: () => go(['sql']) },
      ...(isEditor
        ? [
            { title: 'Import data', kind: 'do', run: () => go([]) },
            ...['dataset', 'procedure', 'function', 'plugin'].map((kind) => ({
              title: `New ${kind}`,
              kind: 'do',
              run: () => go(['new', `${kind}s`]),
            })),
          ]
        : []),
      {
        title: 'Show REST calls',
        kind: 'do',
        run: () => {
          isDrawerOpen.value = true;
        },
      },
      { title: 'Help and keys', kind: 'do', run: onHelp },
      ...datasets.map((id) => ({ title: id, kind: 'dataset', run: () => go(['data', id]) })),
      ...functions.map((id) => ({ title: id, kind: 'function', run: () => go(['models', id]) })),
      ...procedures.map((id) => ({ title: id, kind: 'procedure', run: () => go(['runs', id]) })),
      ...plugins.map((id) => ({ title: id, kind: 'plugin', run: () => go(['plugins', id]) })),
    ];
  }, [datasets, functions, procedures, plugins]);
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    const words = wanted.split(/\s+/);
    return entries
      .filter(({ title, kind }) =>
        words.every((word) => `${kind} ${title}`.toLowerCase().includes(word)),
      )
      .map((entry) => ({ entry, distance: distanceOf(entry.title.toLowerCase(), wanted) }))
      .sort((a, b) => a.distance - b.distance)
      .slice(0, SHOWN_MAX)
      .map(({ entry }) => entry);
  }, [entries, text]);
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);

  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  // Who types fast does not land at what merely came first.
  useEffect(() => {
    if (!isEntered || !isComplete) return;
    setEntered(false);
    run(found[chosen]);
  }, [isEntered, isComplete]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      setChosen((chosen + step + found.length) % Math.max(1, found.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      setEntered(true);
    }
  };
  return (
    <Dialog title="Go to, do" onClose={onClose} className="palette">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${chosen}`}
        aria-label="Name of a place or action"
        placeholder="A dataset, a model, a screen, an action"
        value={text}
        autofocus
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
          setEntered(false);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Found" ref={list}>
        {found.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are those of the field
          <div
            key={`${entry.kind} ${entry.title}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(entry)}
          >
            <span class="title">{entry.title}</span>
            <span class="dim">{entry.kind}</span>
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p class="dim">{isComplete ? 'Nothing is named so.' : 'Names are being fetched.'}</p>
      )}
    </Dialog>
  );
}

/** What is named just so comes first, then what begins so. */
function distanceOf(title: string, wanted: string): number {
  if (wanted === '' || title === wanted) return 0;
  return title.startsWith(wanted) ? 1 : title.includes(wanted) ? 2 : 3;
}
