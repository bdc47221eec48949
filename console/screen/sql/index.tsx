// The SQL screen: drafts in tabs, an editor, and the result of the statement that was run last.
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Empty } from '../../part/basic.tsx';
import type { ChartSpec } from '../../part/chart/spec.ts';
import { copyText, tell } from '../../part/dialog.tsx';
import { type EditorControl, SqlEditor } from '../../part/editor/sql-editor.tsx';
import { ResultView } from '../../part/result/result-view.tsx';
import { statementAt } from '../../part/sql/text.ts';
import { go, href, packText, place, replacePlace, unpackText } from '../../route.ts';
import { may } from '../../state/catalogue.ts';
import {
  addDraft,
  changeDraft,
  chooseDraft,
  currentDraft,
  draftOf,
  drafts,
  openDrafts,
  remember,
  rewriteDraft,
} from '../../state/drafts.ts';
import { Result } from '../../state/result.ts';
import { DraftTabs } from './draft-tabs.tsx';
import { HistoryPane } from './history-pane.tsx';
import { SaveDialog } from './save-dialog.tsx';

/** The result of each draft; results are held by the worker while a draft shows them. */
const results = signal<ReadonlyMap<string, Result>>(new Map());
const RESULTS_KEPT_MAX = 6;

/** Runs a statement for a draft in place of what it shows. */
function runFor(draft: string, sql: string): Result {
  results.value.get(draft)?.drop();
  const result = new Result(sql);
  const next = new Map(results.value);
  next.delete(draft);
  next.set(draft, result);
  const [oldest] = next.keys();
  if (next.size > RESULTS_KEPT_MAX && oldest !== undefined) {
    next.get(oldest)?.drop();
    next.delete(oldest);
  }
  results.value = next;
  void result.done.then(() => {
    const { state, rowCount, milliseconds, error } = result;
    const outcome = state.value === 'failed' ? (error.value?.message ?? 'failed') : state.value;
    remember({
      at: result.startedAt,
      sql,
      milliseconds: milliseconds.value ?? 0,
      rowCount: rowCount.value,
      outcome,
    });
  });
  return result;
}

export function Screen() {
  const [isOpen, setOpen] = useState(false);
  const editor = useRef<EditorControl | undefined>(undefined);
  const [hasHistory, setHistory] = useState(false);
  const [saved, setSaved] = useState<string>();
  const id = currentDraft.value;
  const draft = draftOf(id);
  const result = results.value.get(id);
  const { query } = place.value;
  const tab = query.view ?? 'table';
  const chart = parseChart(query.chart);

  // A link opens its statement: in the draft that holds it already, or in a new one.
  const linked = query.q ?? query.z;
  useEffect(() => {
    let isGone = false;
    const open = async () => {
      await openDrafts();
      const text = await unpackText(query);
      if (isGone) return;
      if (text !== undefined) {
        const known = drafts.value.find((each) => each.text.trim() === text.trim());
        if (known !== undefined) chooseDraft(known.id);
        else if (draftOf(currentDraft.value)?.text.trim() === '') {
          rewriteDraft(currentDraft.value, text);
        } else addDraft(text);
        const current = currentDraft.value;
        if (query.run === '1' && results.value.get(current)?.sql !== text) runFor(current, text);
      }
      setOpen(true);
    };
    void open();
    return () => {
      isGone = true;
    };
  }, [linked, query.run]);

  if (!isOpen || draft === undefined) return null;

  const run = (sql: string) => {
    if (sql.trim() === '') {
      tell('there is no statement to run');
      return;
    }
    runFor(id, sql);
    void packText(draftOf(id)?.text ?? sql).then((packed) =>
      replacePlace(['sql'], { ...packed, view: query.view, chart: query.chart }),
    );
  };
  const runAt = (from: number, to: number) => {
    const text = draftOf(id)?.text ?? '';
    run(from === to ? (statementAt(text, from)?.text ?? '') : text.slice(from, to));
  };
  const runSelection = () => {
    const { from, to } = editor.current?.selection() ?? { from: 0, to: 0 };
    runAt(from, to);
  };
  /** Sorting and filtering change the text that the user sees; undo in the editor brings it back. */
  const rewrite = (sql: string) => {
    const text = draftOf(id)?.text ?? '';
    const before = result?.sql ?? '';
    const isPart = before !== '' && text.includes(before);
    rewriteDraft(id, isPart ? text.replace(before, () => sql) : sql);
    run(sql);
  };
  const setView = (view: string) => replacePlace(['sql'], { ...query, view, run: undefined });
  const share = async () => {
    const packed = await packText(draft.text);
    const address = href(['sql'], { ...packed, run: '1', view: query.view, chart: query.chart });
    await copyText(`${location.href.replace(/#.*$/, '')}${address}`, 'Link');
  };
  const isRunning = result?.state.value === 'running';

  return (
    <div class="sql-screen">
      <h1 class="unseen">SQL</h1>
      <DraftTabs />
      <div class="editor-area" data-region>
        <SqlEditor
          key={id}
          text={draft.text}
          revision={draft.revision}
          label="SQL statement"
          hint="SELECT …"
          control={editor}
          onChange={(text) => changeDraft(id, { text })}
          onRun={runAt}
          onCancel={() => result?.cancel()}
        />
        <div class="row actions">
          {isRunning ? (
            <Button kind="primary" icon="stop" onClick={() => result?.cancel()}>
              Cancel
            </Button>
          ) : (
            <Button kind="primary" icon="play" label="Ctrl Enter" onClick={runSelection}>
              Run
            </Button>
          )}
          <Button icon="runs" aria-pressed={hasHistory} onClick={() => setHistory(!hasHistory)}>
            History
          </Button>
          <Button icon="link" onClick={() => void share()}>
            Link
          </Button>
          {may('editor') && (
            <Button
              icon="save"
              onClick={() =>
                setSaved(statementAt(draft.text, editor.current?.selection().from ?? 0)?.text ?? '')
              }
            >
              Save as function
            </Button>
          )}
        </div>
      </div>
      {hasHistory && (
        <HistoryPane
          onChoose={(sql) => {
            rewriteDraft(id, sql);
            setHistory(false);
            editor.current?.focus();
          }}
        />
      )}
      {result === undefined ? (
        <Hint />
      ) : (
        <ResultView
          key={result.id}
          result={result}
          tab={tab}
          onTab={setView}
          chart={chart}
          onChart={(spec) =>
            replacePlace(['sql'], { ...query, run: undefined, chart: JSON.stringify(spec) })
          }
          onRewrite={rewrite}
          onRetry={() => run(result.sql)}
        />
      )}
      {saved !== undefined && <SaveDialog sql={saved} onClose={() => setSaved(undefined)} />}
    </div>
  );
}

function Hint() {
  return (
    <Empty title="Ask a question">
      <p>
        Write a statement and press <kbd>Ctrl</kbd> <kbd>Enter</kbd>. Names of datasets, columns and
        functions are completed while you type.
      </p>
      <Button onClick={() => go(['data'])}>See what there is</Button>
    </Empty>
  );
}

function parseChart(text: string | undefined): ChartSpec | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as ChartSpec;
  } catch {
    return undefined;
  }
}
