// Dates and durations as readers see them.
import { durationText } from '../../part/duration.ts';

/** Dates of the service in the zone of the reader. */
export function localTime(text: string | undefined): string {
  return text === undefined ? '' : new Date(text).toLocaleString();
}

export function duration({
  runStarted,
  runFinished,
}: {
  runStarted?: string;
  runFinished?: string;
}): string {
  if (runStarted === undefined || runFinished === undefined) return '';
  return durationText(Math.max(0, Date.parse(runFinished) - Date.parse(runStarted)));
}
