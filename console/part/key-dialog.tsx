// Asks for the API key when the service wants one.
import { useState } from 'preact/hooks';
import { keyRequest } from '../state/key.ts';
import { Button } from './basic.tsx';
import { Dialog } from './dialog.tsx';

export function KeyDialog() {
  const request = keyRequest.value;
  const [text, setText] = useState('');
  const [isKept, setKept] = useState(false);
  if (request === undefined) return null;
  const answer = (given: string | undefined) => {
    setText('');
    request.answer(given, isKept);
  };
  return (
    <Dialog title="API key" onClose={() => answer(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') answer(text.trim());
        }}
      >
        <p class="dim">{request.reason}</p>
        <label class="stack">
          Key
          <input
            type="password"
            autocomplete="off"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={isKept}
            onChange={(event) => setKept(event.currentTarget.checked)}
          />
          Keep it until this tab is closed
        </label>
        <footer class="row end">
          <Button onClick={() => answer(undefined)}>Go on without</Button>
          <Button kind="primary" type="submit" disabled={text.trim() === ''}>
            Use it
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}
