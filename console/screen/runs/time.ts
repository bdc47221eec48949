// How long a run took.
import { durationText } from '../../part/words.ts';

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
