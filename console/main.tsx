// The console: the frame around every screen. Screens are loaded when they are first visited.
import { signal } from '@preact/signals';
import { type ComponentType, render } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Failure, Unreachable, Waiting } from './part/basic.tsx';
import { Messages } from './part/dialog.tsx';
import { Drawer, isDrawerOpen } from './part/drawer.tsx';
import { HelpDialog } from './part/help.tsx';
import { Icon, type IconName } from './part/icon.tsx';
import { KeyDialog } from './part/key-dialog.tsx';
import { Palette } from './part/palette.tsx';
import { href, place } from './route.ts';
import { cached, followLists, ownRole, type RunSummary, reload } from './state/catalogue.ts';
import { key, setKey } from './state/key.ts';
import { readSetting, writeSetting } from './state/store.ts';

type ScreenModule = { readonly Screen: ComponentType };

interface ScreenEntry {
  readonly title: string;
  readonly icon: IconName;
  readonly load: () => Promise<ScreenModule>;
  /** not in the navigation */
  readonly isInner?: boolean;
}

const SCREENS: Readonly<Record<string, ScreenEntry>> = {
  home: { title: 'Home', icon: 'home', load: () => import('./screen/start/index.tsx') },
  sql: { title: 'SQL', icon: 'sql', load: () => import('./screen/sql/index.tsx') },
  data: { title: 'Data', icon: 'data', load: () => import('./screen/data/index.tsx') },
  models: { title: 'Models', icon: 'model', load: () => import('./screen/model/index.tsx') },
  runs: { title: 'Runs', icon: 'runs', load: () => import('./screen/runs/index.tsx') },
  plugins: { title: 'Plugins', icon: 'plugin', load: () => import('./screen/plugins/index.tsx') },
  server: { title: 'Server', icon: 'server', load: () => import('./screen/server/index.tsx') },
  new: { title: 'New', icon: 'plus', load: () => import('./screen/new/index.tsx'), isInner: true },
};

const THEMES = ['system', 'light', 'dark'] as const;
const theme = signal(readSetting('theme') ?? 'system');
const ACTIVE_RUNS = '/v1/runs?state=initializing,executing&limit=100';
const ACTIVE_RUNS_MS = 3000;

theme.subscribe((name) => {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
});

function App() {
  const [dialog, setDialog] = useState<'palette' | 'help'>();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const name = place.value.path[0] ?? 'home';
  const entry = SCREENS[name];

  useEffect(() => {
    document.title =
      entry === undefined
        ? 'Rowan'
        : `${[...place.value.path].slice(1).join(' / ') || entry.title} · Rowan`;
    setMenuOpen(false);
  }, [place.value]);

  // Keys work from the first picture on.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setDialog('palette');
      } else if (event.key === 'F6') {
        event.preventDefault();
        nextRegion(event.shiftKey);
      } else if (event.key === '?' && !isTyping(event.target)) {
        setDialog('help');
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  return (
    <div class="frame">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        To the content
      </button>
      <header class="top" data-region>
        <button
          type="button"
          class="button bare square menu-button"
          aria-label="Navigation"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          <Icon name="menu" />
        </button>
        <a class="brand" href={href([])}>
          <Logo /> Rowan
        </a>
        <button type="button" class="go" onClick={() => setDialog('palette')}>
          <Icon name="search" />
          <span>Go to, do</span>
          <kbd>Ctrl K</kbd>
        </button>
        <span class="grow" />
        <ActiveRuns />
        <button
          type="button"
          class="button bare"
          aria-pressed={isDrawerOpen.value}
          onClick={() => {
            isDrawerOpen.value = !isDrawerOpen.value;
          }}
        >
          <Icon name="code" />
          <span>REST</span>
        </button>
        <Role />
        <select
          class="theme"
          aria-label="Theme"
          value={theme.value}
          onChange={(event) => {
            theme.value = event.currentTarget.value;
            writeSetting('theme', theme.value);
          }}
        >
          {THEMES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <button
          type="button"
          class="button bare square"
          aria-label="Help"
          title="Help (?)"
          onClick={() => setDialog('help')}
        >
          ?
        </button>
      </header>
      <nav class={isMenuOpen ? 'side open' : 'side'} aria-label="Screens" data-region>
        {Object.entries(SCREENS)
          .filter(([, { isInner }]) => isInner !== true)
          .map(([id, { title, icon }]) => (
            <a
              key={id}
              href={href(id === 'home' ? [] : [id])}
              aria-current={id === name ? 'page' : undefined}
            >
              <Icon name={icon} />
              {title}
            </a>
          ))}
        <a href="doc/" target="_blank" rel="noopener">
          <Icon name="docs" />
          Docs
        </a>
      </nav>
      <main id="main" tabIndex={-1} data-region>
        <Unreachable />
        {entry === undefined ? <NoScreen /> : <ScreenHolder key={name} entry={entry} />}
      </main>
      <Drawer />
      {dialog === 'palette' && (
        <Palette
          screens={SCREENS}
          onHelp={() => setDialog('help')}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'help' && <HelpDialog onClose={() => setDialog(undefined)} />}
      <KeyDialog />
      <Messages />
    </div>
  );
}

const loaded = new Map<ScreenEntry, ScreenModule>();

function ScreenHolder({ entry }: { readonly entry: ScreenEntry }) {
  const [, draw] = useState(0);
  const [error, setError] = useState<unknown>();
  const open = () =>
    entry.load().then(
      (module) => {
        loaded.set(entry, module);
        setError(undefined);
        draw((count) => count + 1);
      },
      (thrown: unknown) => setError(thrown),
    );
  useEffect(() => {
    if (!loaded.has(entry)) void open();
  }, [entry]);
  const known = loaded.get(entry);
  if (known !== undefined) return <known.Screen />;
  return error === undefined ? <Waiting /> : <Failure error={error} retry={() => void open()} />;
}

function NoScreen() {
  return (
    <div class="empty">
      <h1>There is no such page</h1>
      <p>
        <a href={href([])}>Home</a> leads everywhere.
      </p>
    </div>
  );
}

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
      <path class="stem" d="M8 15V7M8 9.5 4.2 6M8 8l3.6-3.4" />
      <circle cx="3.7" cy="5.3" r="2" />
      <circle cx="8" cy="4.2" r="2.2" />
      <circle cx="12.2" cy="4" r="2" />
    </svg>
  );
}

function ActiveRuns() {
  const runs = cached<RunSummary[]>(ACTIVE_RUNS);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void reload(ACTIVE_RUNS);
    }, ACTIVE_RUNS_MS);
    return () => clearInterval(timer);
  }, []);
  const count = runs.value?.length ?? 0;
  if (count === 0) return null;
  return (
    <a class="running" href={href(['runs'], { state: 'executing' })}>
      {count} running
    </a>
  );
}

function Role() {
  if (key.value === undefined) return null;
  return (
    <button
      type="button"
      class="button bare"
      title="Forget the key"
      onClick={() => setKey(undefined, false)}
    >
      {ownRole()}
    </button>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** F6 goes round the parts of the page. */
function nextRegion(isBackwards: boolean): void {
  const regions = [...document.querySelectorAll<HTMLElement>('[data-region]')].filter(
    (element) => element.offsetParent !== null || element.tagName === 'MAIN',
  );
  const current = regions.findLastIndex((element) => element.contains(document.activeElement));
  const step = isBackwards ? -1 : 1;
  const next = regions[(current + step + regions.length) % regions.length];
  const inside = next?.querySelector<HTMLElement>(
    'a[href], button:not([disabled]):not([tabindex="-1"]), input, select, textarea, [tabindex="0"], [contenteditable="true"]',
  );
  (inside ?? next)?.focus();
}

render(<App />, document.getElementById('app') as HTMLElement);
void followLists();
