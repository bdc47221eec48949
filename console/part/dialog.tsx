// Dialogs over the page, and short messages that come and go.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { messageOf } from '../state/api.ts';
import { Button } from './basic.tsx';

export function Dialog({
  title,
  onClose,
  children,
  className = '',
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly className?: string;
}) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const returnTo = document.activeElement as HTMLElement | null;
    element.current?.showModal();
    return () => returnTo?.focus?.();
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${className}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => event.target === element.current && onClose()}
      onKeyDown={(event) => event.stopPropagation()}
    >
      <div class="inside">
        <header>
          <h2 id={id}>{title}</h2>
          <Button icon="close" kind="bare" label="Close" onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  );
}

/** Deletes something once its id was typed; Enter alone does nothing. */
export function DeleteDialog({
  kind,
  id,
  dependants,
  remove,
  onClose,
}: {
  readonly kind: string;
  readonly id: string;
  /** what uses it, in words */
  readonly dependants: readonly string[];
  readonly remove: () => Promise<unknown>;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await remove();
      tell(`${kind} ${id} was deleted`);
      onClose();
    } catch (thrown) {
      setError(messageOf(thrown));
      setBusy(false);
    }
  };
  return (
    <Dialog title={`Delete ${kind} ${id}`} onClose={onClose}>
      {dependants.length === 0 ? (
        <p>Nothing that the console knows of uses it. This cannot be undone.</p>
      ) : (
        <>
          <p>These use it and will fail without it. This cannot be undone.</p>
          <ul class="plain">
            {dependants.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
      <label class="stack">
        Type <strong class="id">{id}</strong> to confirm
        <input
          value={typed}
          autofocus
          onInput={(event) => setTyped(event.currentTarget.value)}
          autocomplete="off"
        />
      </label>
      {error !== undefined && (
        <p class="wrong" role="alert">
          {error}
        </p>
      )}
      <footer class="row end">
        <Button onClick={onClose}>Keep it</Button>
        <Button kind="danger" disabled={typed !== id || isBusy} onClick={confirm}>
          Delete
        </Button>
      </footer>
    </Dialog>
  );
}

interface Message {
  readonly number: number;
  readonly text: string;
  readonly link: { readonly text: string; readonly href: string } | undefined;
}

const MESSAGE_MS = 6000;
const messages = signal<readonly Message[]>([]);
let messageCount = 0;

/** Says something at the edge of the page for a while. */
export function tell(text: string, link?: Message['link']): void {
  const number = ++messageCount;
  messages.value = [...messages.value.slice(-2), { number, text, link }];
  setTimeout(() => {
    messages.value = messages.value.filter((message) => message.number !== number);
  }, MESSAGE_MS);
}

export function Messages() {
  return (
    <div class="messages" role="status" aria-live="polite">
      {messages.value.map(({ number, text, link }) => (
        <p key={number}>
          {text} {link !== undefined && <a href={link.href}>{link.text}</a>}
        </p>
      ))}
    </div>
  );
}

/** Puts text where other programs can take it. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied`);
  } catch {
    tell(`the browser does not let pages copy; select the text instead`);
  }
}

/** Hands a file to the user. */
export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
