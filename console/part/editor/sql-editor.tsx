// An SQL editor; a plain field until the editor's code has come, so that nothing typed is lost.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Editor } from './code-mirror.ts';
import { loadLanguage } from './language.ts';

export interface EditorControl {
  focus(): void;
  selection(): { readonly from: number; readonly to: number };
}

interface SqlEditorProps {
  /** the text when the editor comes, and whenever `revision` changes; in between it is the editor's */
  readonly text: string;
  readonly revision?: number;
  readonly label: string;
  readonly hint?: string;
  /** few lines, no numbers */
  readonly isCompact?: boolean;
  readonly control?: { current?: EditorControl };
  readonly onChange: (text: string) => void;
  readonly onRun?: (from: number, to: number) => void;
  readonly onCancel?: () => void;
}

export function SqlEditor(props: SqlEditorProps) {
  const { text, revision = 0, label, hint = '', isCompact = false, control } = props;
  const holder = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<Editor>(undefined);
  const [isReady, setReady] = useState(false);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let isGone = false;
    const open = async () => {
      const [{ createEditor }, language] = await Promise.all([
        import('./code-mirror.ts'),
        loadLanguage().catch(() => ({ keywords: ['SELECT', 'FROM'], functions: [], types: [] })),
      ]);
      if (isGone) return;
      const hadFocus = document.activeElement === field.current;
      const nonce = document.querySelector<HTMLScriptElement>('script[data-worker]')?.nonce ?? '';
      const made = createEditor({
        ...{ parent: holder.current as HTMLElement, label, nonce, language, hint, isCompact },
        text: latest.current.text,
        onChange: (next) => latest.current.onChange(next),
        onRun: (from, to) => latest.current.onRun?.(from, to),
        onCancel: () => latest.current.onCancel?.(),
      });
      editor.current = made;
      setReady(true);
      if (hadFocus) made.focus();
    };
    void open();
    return () => {
      isGone = true;
      editor.current?.destroy();
    };
  }, []);

  useEffect(() => editor.current?.setText(latest.current.text), [revision]);

  if (control !== undefined) {
    control.current = {
      focus: () => (editor.current ?? field.current)?.focus(),
      selection: () => {
        const { selectionStart: from = 0, selectionEnd: to = 0 } = field.current ?? {};
        return editor.current?.selection ?? { from, to };
      },
    };
  }

  return (
    <div class={`sql-editor${isCompact ? ' compact' : ''}`} ref={holder}>
      {!isReady && (
        <textarea
          ref={field}
          aria-label={label}
          placeholder={hint}
          spellcheck={false}
          value={text}
          onInput={(event) => props.onChange(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            const { selectionStart, selectionEnd } = event.currentTarget;
            props.onRun?.(selectionStart, selectionEnd);
          }}
        />
      )}
    </div>
  );
}
