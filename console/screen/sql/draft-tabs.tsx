// The drafts as tabs; they can be renamed, and a closed one can be brought back.
import { useRef, useState } from 'preact/hooks';
import { Button } from '../../part/basic.tsx';
import { replacePlace } from '../../route.ts';
import {
  addDraft,
  changeDraft,
  chooseDraft,
  currentDraft,
  drafts,
  removeDraft,
} from '../../state/drafts.ts';

export function DraftTabs() {
  const [renamed, setRenamed] = useState<string>();
  const undo = useRef<{ title: string; back: () => void } | undefined>(undefined);
  const [, draw] = useState(0);
  const choose = (id: string) => {
    chooseDraft(id);
    replacePlace(['sql']);
  };
  const move = (event: KeyboardEvent, index: number) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined || renamed !== undefined) return;
    event.preventDefault();
    const all = drafts.value;
    const next = all[(index + step + all.length) % all.length];
    if (next === undefined) return;
    choose(next.id);
    document.getElementById(`draft-${next.id}`)?.focus();
  };
  const close = (id: string, title: string) => {
    undo.current = { title, back: removeDraft(id) };
    replacePlace(['sql']);
    draw((count) => count + 1);
  };
  return (
    <div class="draft-tabs row" data-region>
      <div role="tablist" aria-label="Drafts" class="row">
        {drafts.value.map(({ id, title }, index) =>
          renamed === id ? (
            <input
              key={id}
              class="rename"
              aria-label="Name of the draft"
              value={title}
              ref={(element) => element?.focus()}
              onInput={(event) => changeDraft(id, { title: event.currentTarget.value })}
              onBlur={() => setRenamed(undefined)}
              onKeyDown={(event) =>
                ['Enter', 'Escape'].includes(event.key) && setRenamed(undefined)
              }
            />
          ) : (
            <button
              key={id}
              id={`draft-${id}`}
              type="button"
              role="tab"
              aria-selected={id === currentDraft.value}
              tabIndex={id === currentDraft.value ? 0 : -1}
              title="Double click or F2 to rename, Delete to close"
              onClick={() => choose(id)}
              onDblClick={() => setRenamed(id)}
              onKeyDown={(event) => {
                if (event.key === 'F2') setRenamed(id);
                else if (event.key === 'Delete') close(id, title);
                else move(event, index);
              }}
            >
              {title || 'Untitled'}
            </button>
          ),
        )}
      </div>
      <Button icon="plus" kind="bare" label="New draft" onClick={() => choose(addDraft('').id)} />
      <span class="grow" />
      {undo.current !== undefined && (
        <Button
          kind="bare"
          onClick={() => {
            undo.current?.back();
            undo.current = undefined;
            draw((count) => count + 1);
          }}
        >
          Bring back {undo.current.title}
        </Button>
      )}
      <Button
        icon="close"
        kind="bare"
        label="Close this draft"
        onClick={() => {
          const draft = drafts.value.find(({ id }) => id === currentDraft.value);
          if (draft !== undefined) close(draft.id, draft.title);
        }}
      />
    </div>
  );
}
