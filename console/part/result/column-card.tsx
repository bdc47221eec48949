// One column in a few lines: type, share of NULL, distinct values, a histogram, the top values.
import type { ColumnProfile } from '../../worker/protocol.ts';
import { cutText } from '../words.ts';

export interface ColumnFacts extends Omit<ColumnProfile, 'isWhole'> {
  /** which rows the facts are about */
  readonly scope: string;
}

interface ColumnCardProps {
  readonly name: string;
  readonly kind: string;
  readonly facts: ColumnFacts | undefined;
  /** why there are no facts */
  readonly note?: string | undefined;
  readonly onName?: (() => void) | undefined;
  readonly onValue?: ((value: string) => void) | undefined;
  readonly onRange?: ((from: number, to: number) => void) | undefined;
}

const SHORT: Readonly<Record<string, string>> = {
  integer: 'int',
  number: 'num',
  text: 'text',
  string: 'text',
  timestamp: 'time',
};

export function ColumnCard({ name, kind, facts, note, onName, onValue, onRange }: ColumnCardProps) {
  return (
    <section class="column-card" aria-label={name}>
      <header>
        {onName === undefined ? (
          <strong>{name}</strong>
        ) : (
          <button type="button" class="name" title={name} onClick={onName}>
            {name}
          </button>
        )}
        <span class="kind">{SHORT[kind] ?? kind}</span>
      </header>
      {note !== undefined && <p class="dim">{note}</p>}
      {facts !== undefined && <Facts facts={facts} onValue={onValue} onRange={onRange} />}
    </section>
  );
}

function Facts({
  facts,
  onValue,
  onRange,
}: {
  readonly facts: ColumnFacts;
  readonly onValue: ColumnCardProps['onValue'];
  readonly onRange: ColumnCardProps['onRange'];
}) {
  const { rows, nulls, distinct, isDistinctExact, histogram, top, minimum, maximum, quantiles } =
    facts;
  const isContinuous = histogram !== undefined && distinct > 12;
  return (
    <>
      <p class="dim small">
        {percent(nulls, rows)} null · {isDistinctExact ? '' : '> '}
        {compact(distinct)} distinct · {facts.scope}
      </p>
      {isContinuous ? (
        <>
          <Histogram histogram={histogram} onRange={onRange} />
          <p class="ends small">
            <span>{shortNumber(minimum)}</span>
            {quantiles !== undefined && minimum?.endsWith('Z') !== true && (
              <span class="dim">median {shortNumber(String(quantiles[1]))}</span>
            )}
            <span>{shortNumber(maximum)}</span>
          </p>
        </>
      ) : (
        <TopValues top={top} rows={rows} onValue={onValue} />
      )}
    </>
  );
}

export function Histogram({
  histogram,
  onRange,
}: {
  readonly histogram: NonNullable<ColumnProfile['histogram']>;
  readonly onRange: ColumnCardProps['onRange'];
}) {
  const { from, to, counts } = histogram;
  const highest = Math.max(1, ...counts);
  const width = (to - from) / counts.length;
  return (
    <div class="histogram" role="group" aria-label="Histogram">
      {counts.map((count, index) => {
        const low = from + index * width;
        const title = `${shortNumber(String(low))} to ${shortNumber(String(low + width))}: ${count}`;
        const style = { '--share': count === 0 ? 0 : Math.max(0.04, count / highest) };
        return onRange === undefined ? (
          <span key={index} class="bin" style={style} title={title} />
        ) : (
          <button
            key={index}
            type="button"
            class="bin"
            style={style}
            title={title}
            aria-label={title}
            tabIndex={-1}
            onClick={() => onRange(low, low + width)}
          />
        );
      })}
    </div>
  );
}

function TopValues({
  top,
  rows,
  onValue,
}: {
  readonly top: ColumnProfile['top'];
  readonly rows: number;
  readonly onValue: ColumnCardProps['onValue'];
}) {
  return (
    <ul class="top-values">
      {top.slice(0, 5).map(({ value, count }) => {
        const style = { '--share': count / Math.max(1, rows) };
        const content = (
          <>
            <span class="value">{value === '' ? '(empty)' : cutText(value)}</span>
            <span class="dim">{percent(count, rows)}</span>
          </>
        );
        return (
          <li key={value} style={style}>
            {onValue === undefined ? (
              <span class="entry">{content}</span>
            ) : (
              <button
                type="button"
                class="entry"
                title={`Only rows with ${cutText(value)}`}
                onClick={() => onValue(value)}
              >
                {content}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '0 %';
  const share = (part / whole) * 100;
  if (share > 0 && share < 0.1) return '< 0.1 %';
  return `${share >= 10 || share === 0 ? share.toFixed(0) : share.toFixed(1)} %`;
}

export function compact(count: number): string {
  return count < 10_000
    ? count.toLocaleString('en')
    : new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(count);
}

/** Four digits are enough to recognise a number; dates keep their day. */
export function shortNumber(text: string | undefined): string {
  if (text === undefined) return '';
  if (/^\d{4}-\d\d-\d\dT/.test(text)) return text.slice(0, 10);
  const number = Number(text);
  if (text === '' || Number.isNaN(number)) return text;
  if (Number.isInteger(number) && Math.abs(number) < 1e7) return number.toLocaleString('en');
  return String(Number(number.toPrecision(4)));
}
