// Small things that every screen is made of.
import { type ButtonHTMLAttributes, type ComponentChildren, toChildArray } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { isReachable, messageOf } from '../state/api.ts';
import type { Cached } from '../state/catalogue.ts';
import { reload } from '../state/catalogue.ts';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps extends Omit<ButtonHTMLAttributes, 'icon' | 'label'> {
  readonly icon?: IconName;
  readonly kind?: 'primary' | 'plain' | 'danger' | 'bare';
  /** words for those who do not see the icon, when there is no text */
  readonly label?: string;
  readonly disabled?: boolean;
  readonly type?: 'button' | 'submit';
  readonly children?: ComponentChildren;
}

export function Button({ icon, kind = 'plain', label, children, ...others }: ButtonProps) {
  const hasText = toChildArray(children).length > 0;
  return (
    <button
      type="button"
      class={`button ${kind}${hasText ? '' : ' square'}`}
      aria-label={hasText ? undefined : label}
      title={label}
      {...others}
    >
      {icon !== undefined && <Icon name={icon} />}
      {hasText && <span>{children}</span>}
    </button>
  );
}

/** What went wrong: words, code, place, number of the request, and what can be done. */
export function Failure({
  error,
  retry,
  children,
}: {
  readonly error: unknown;
  readonly retry?: (() => void) | undefined;
  readonly children?: ComponentChildren;
}) {
  const { code, details, extra } = error as {
    code?: string;
    details?: { line?: number; column?: number; requiredRole?: string };
    extra?: { requestId?: string };
  };
  const facts = [
    code,
    details?.line === undefined ? undefined : `line ${details.line}, column ${details.column}`,
    details?.requiredRole === undefined ? undefined : `needs the role ${details.requiredRole}`,
    extra?.requestId === undefined ? undefined : `request ${extra.requestId}`,
  ].filter((fact) => fact !== undefined);
  return (
    <div class="failure" role="alert">
      <p>{messageOf(error)}</p>
      {facts.length > 0 && <p class="facts">{facts.join(' · ')}</p>}
      <div class="row">
        {retry !== undefined && (
          <Button icon="again" onClick={retry}>
            Try again
          </Button>
        )}
        {children}
      </div>
    </div>
  );
}

/** What it is, and the one thing to do about it. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Bars in place of what is not there yet; seen only when it takes a while. */
export function Waiting({
  lines = 4,
  words = 'Loading',
}: {
  readonly lines?: number;
  readonly words?: string;
}) {
  const [seconds, setSeconds] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setSeconds((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="waiting" role="status">
      <span class="unseen">{words}</span>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} class="bar" />
      ))}
      {seconds > 2 && <span class="dim">{seconds} s</span>}
    </div>
  );
}

/** Shows a cached value, or why it is not there. */
export function Shown<Value>({
  path,
  of,
  children,
  lines,
}: {
  /** asked again on request */
  readonly path: string;
  readonly of: Cached<Value>;
  readonly children: (value: Value) => ComponentChildren;
  readonly lines?: number;
}) {
  if (of.value !== undefined) return <>{children(of.value)}</>;
  if (of.error !== undefined) return <Failure error={of.error} retry={() => void reload(path)} />;
  return <Waiting lines={lines} />;
}

export function Unreachable() {
  if (isReachable.value) return null;
  return (
    <p class="banner" role="status">
      The service cannot be reached. What you see may be out of date.
    </p>
  );
}

const STATE_MARKS: Readonly<Record<string, string>> = {
  ok: '●',
  finished: '✓',
  error: '✕',
  cancelled: '–',
  executing: '▸',
  initializing: '…',
};

/** A state in words and a sign, so that colour is not needed. */
export function State({ of }: { readonly of: string }) {
  return (
    <span class={`state ${of}`}>
      <span aria-hidden="true">{STATE_MARKS[of] ?? '●'}</span> {of}
    </span>
  );
}

export interface TabItem {
  readonly id: string;
  readonly title: string;
}

/** Tabs of one thing: arrows move between them, as lists of tabs do. */
export function Tabs({
  items,
  current,
  onChange,
  label,
}: {
  readonly items: readonly TabItem[];
  readonly current: string;
  readonly onChange: (id: string) => void;
  readonly label: string;
}) {
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = items.findIndex(({ id }) => id === current);
    const next = items[(index + step + items.length) % items.length] as TabItem;
    onChange(next.id);
    (event.currentTarget as HTMLElement)
      .querySelector<HTMLElement>(`[data-tab="${CSS.escape(next.id)}"]`)
      ?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
      {items.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          role="tab"
          data-tab={id}
          aria-selected={id === current}
          tabIndex={id === current ? 0 : -1}
          onClick={() => onChange(id)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/** A labelled control. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly children: (id: string, describedBy: string | undefined) => ComponentChildren;
}) {
  const id = useId();
  const hasNote = hint !== undefined || error !== undefined;
  return (
    <div class={`field${error === undefined ? '' : ' wrong'}`}>
      <label for={id}>{label}</label>
      {children(id, hasNote ? `${id}-note` : undefined)}
      {hasNote && (
        <p class="hint" id={`${id}-note`}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

export function Choice({
  id,
  value,
  options,
  onChange,
  label,
}: {
  readonly id?: string;
  readonly value: string;
  readonly options: readonly (string | readonly [value: string, title: string])[];
  readonly onChange: (value: string) => void;
  readonly label?: string;
}) {
  return (
    <select
      id={id}
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map((option) => {
        const [key, title] = typeof option === 'string' ? [option, option] : option;
        return (
          <option key={key} value={key}>
            {title}
          </option>
        );
      })}
    </select>
  );
}

/** Asks for a path again while it is on the screen. */
export function useRefresh(path: string | undefined, milliseconds: number): void {
  useEffect(() => {
    if (path === undefined) return;
    const timer = setInterval(() => {
      if (!document.hidden) void reload(path);
    }, milliseconds);
    return () => clearInterval(timer);
  }, [path, milliseconds]);
}

/** A value that follows another once that rests. */
export function useRested<Value>(value: Value, milliseconds: number): Value {
  const [rested, setRested] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    timer.current = setTimeout(() => setRested(() => value), milliseconds);
    return () => clearTimeout(timer.current);
  }, [value, milliseconds]);
  return rested;
}
