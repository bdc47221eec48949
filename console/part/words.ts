// Numbers, dates and durations as people read them.

/** For instance `1 row` and `1,200 rows`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** What is shown of a text where there is little room. */
export function cutText(text: string): string {
  return text.length <= SHOWN_LENGTH_MAX ? text : `${text.slice(0, SHOWN_LENGTH_MAX)}…`;
}

const SHOWN_LENGTH_MAX = 200;

export function durationText(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) {
    return `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`;
  }
  const minutes = Math.round(milliseconds / 60_000);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const TIME = { hour: '2-digit', minute: '2-digit', hour12: false } as const;
const DAY = { month: 'short', day: 'numeric' } as const;

/** A date in the zone of the reader: of today the time alone, of other years the day alone. */
export function localTime(text: string | number | undefined): string {
  if (text === undefined) return '';
  const date = new Date(text);
  const today = new Date();
  if (date.toDateString() === today.toDateString()) {
    return date.toLocaleTimeString(undefined, { ...TIME, second: '2-digit' });
  }
  return date.getFullYear() === today.getFullYear()
    ? date.toLocaleString(undefined, { ...DAY, ...TIME })
    : date.toLocaleDateString(undefined, { ...DAY, year: 'numeric' });
}
