// A menu at a place of the page.
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';

export interface MenuItem {
  readonly text: string;
  readonly run: () => void;
  /** a note at its end */
  readonly note?: string;
}

export interface MenuPlace {
  readonly left: number;
  readonly top: number;
}

export function Menu({
  label,
  place,
  items,
  onClose,
}: {
  readonly label: string;
  readonly place: MenuPlace;
  readonly items: readonly (MenuItem | 'line')[];
  readonly onClose: () => void;
}) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const menu = element.current as HTMLDivElement;
    menu.style.left = `${Math.max(4, Math.min(place.left, innerWidth - menu.offsetWidth - 8))}px`;
    menu.style.top = `${Math.max(4, Math.min(place.top, innerHeight - menu.offsetHeight - 8))}px`;
  });
  useEffect(() => {
    const returnTo = document.activeElement as HTMLElement | null;
    buttons(element.current)[0]?.focus();
    const close = (event: PointerEvent) => {
      if (element.current?.contains(event.target as Node) !== true) onClose();
    };
    const timer = setTimeout(() => addEventListener('pointerdown', close));
    return () => {
      clearTimeout(timer);
      removeEventListener('pointerdown', close);
      returnTo?.focus?.();
    };
  }, []);
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    const all = buttons(element.current);
    const index = all.indexOf(document.activeElement as HTMLButtonElement);
    const next = {
      ArrowDown: index + 1,
      ArrowUp: index - 1 + all.length,
      Home: 0,
      End: all.length - 1,
    }[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all[next % all.length]?.focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      onClose();
    }
  };
  return (
    <div ref={element} class="menu" role="menu" aria-label={label} onKeyDown={onKeyDown}>
      {items.map((item, index) =>
        item === 'line' ? (
          <hr key={`line${index}`} />
        ) : (
          <button
            key={item.text}
            type="button"
            role="menuitem"
            onClick={() => {
              onClose();
              item.run();
            }}
          >
            <span>{item.text}</span>
            {item.note !== undefined && <span class="dim">{item.note}</span>}
          </button>
        ),
      )}
    </div>
  );
}

function buttons(menu: HTMLElement | null): HTMLButtonElement[] {
  return [...(menu?.querySelectorAll('button') ?? [])];
}
