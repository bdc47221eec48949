// What was run, newest first.
import { useState } from 'preact/hooks';
import { Button } from '../../part/basic.tsx';
import { durationText, localTime } from '../../part/words.ts';
import { forgetHistory, history } from '../../state/drafts.ts';

const SHOWN_MAX = 100;

export function HistoryPane({ onChoose }: { readonly onChoose: (sql: string) => void }) {
  const [search, setSearch] = useState('');
  const wanted = search.toLowerCase();
  const found = history.value.filter(({ sql }) => sql.toLowerCase().includes(wanted));
  return (
    <section class="history" aria-label="History">
      <div class="row">
        <input
          type="search"
          placeholder="Find in the history"
          aria-label="Find in the history"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        <span class="grow" />
        <Button kind="bare" onClick={() => void forgetHistory()}>
          Forget all
        </Button>
      </div>
      {found.length === 0 && <p class="dim">Nothing yet.</p>}
      <ol class="plain">
        {found.slice(0, SHOWN_MAX).map((entry) => (
          <li key={`${entry.at} ${entry.sql}`}>
            <button type="button" class="entry" onClick={() => onChoose(entry.sql)}>
              <code>{entry.sql}</code>
              <span class={`dim${entry.outcome === 'done' ? '' : ' wrong'}`}>
                {localTime(entry.at)} · {durationText(entry.milliseconds)} ·{' '}
                {entry.outcome === 'done'
                  ? `${entry.rowCount.toLocaleString('en')} rows`
                  : entry.outcome}
              </span>
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
