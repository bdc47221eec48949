// The calls that were made, newest first, each to be taken along.
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';
import { calls } from '../state/api.ts';
import { Button } from './basic.tsx';
import { Snippets } from './snippet.tsx';

export const isDrawerOpen = signal(false);

export function Drawer() {
  const [chosen, setChosen] = useState<number>();
  if (!isDrawerOpen.value) return null;
  const newest = [...calls.value].reverse();
  const shown = newest.find(({ number }) => number === chosen) ?? newest[0];
  return (
    <aside class="drawer" aria-label="REST calls" data-region>
      <header class="row spread">
        <h2>REST</h2>
        <Button
          icon="close"
          kind="bare"
          label="Close"
          onClick={() => {
            isDrawerOpen.value = false;
          }}
        />
      </header>
      {shown === undefined ? (
        <p class="dim">What you do appears here as calls.</p>
      ) : (
        <>
          <ul class="plain calls">
            {newest.slice(0, 50).map((entry) => (
              <li key={entry.number}>
                <button
                  type="button"
                  class="entry"
                  aria-pressed={entry.number === shown.number}
                  onClick={() => setChosen(entry.number)}
                >
                  <span class="verb">{entry.verb}</span>
                  <span class="path">{decoded(entry.path)}</span>
                  <span class={(entry.status ?? 0) >= 400 ? 'wrong' : 'dim'}>
                    {entry.status ?? '…'}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <p class="dim small">
            {shown.status ?? 'no reply yet'}
            {shown.milliseconds !== undefined && ` · ${shown.milliseconds.toFixed(0)} ms`}
            {shown.requestId !== undefined && ` · request ${shown.requestId}`}
          </p>
          <Snippets call={shown} />
        </>
      )}
    </aside>
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
