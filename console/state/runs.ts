// Runs of procedures: started without waiting, followed by their events.
import { encodePathElement } from 'rowan-db/client';
import { call, callStream, entityPath } from './api.ts';
import { invalidate, type RunProgress } from './catalogue.ts';

export interface RunState {
  readonly id: string;
  readonly state: string;
  readonly runStarted?: string;
  readonly runFinished?: string;
  readonly status?: Readonly<Record<string, unknown>>;
  readonly progress?: RunProgress;
}

export interface RunLogLine {
  readonly ts: string;
  readonly level: string;
  readonly message: string;
}

export function runPath(procedure: string, run: string, rest = ''): string {
  return entityPath('procedures', procedure, `/runs/${encodePathElement(run)}${rest}`);
}

/** @returns the id of the run. @throws RowanError */
export async function startRun(
  procedure: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const body = Object.keys(params).length === 0 ? {} : { params };
  const path = entityPath('procedures', procedure, '/runs');
  const { id } = await call<{ id: string }>('POST', path, { body, headers: { async: 'true' } });
  invalidate('/v1/runs');
  return id;
}

export async function cancelRun(procedure: string, run: string): Promise<void> {
  await call('PUT', runPath(procedure, run, '/state'), { body: { state: 'cancelled' } });
}

export function isActive(state: string | undefined): boolean {
  return state === 'initializing' || state === 'executing';
}

const RECONNECTION_MS = 1000;

/** What is told of a run until it ends. Broken connections are opened again where they ended. */
export async function followRun(
  procedure: string,
  run: string,
  tell: { onState(state: Partial<RunState>): void; onLog(line: RunLogLine): void },
  signal: AbortSignal,
): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    try {
      for await (const event of eventsOf(
        runPath(procedure, run, `/events?after=${after}`),
        signal,
      )) {
        after = event.id;
        if (event.event === 'log') tell.onLog(event.data as RunLogLine);
        else if (event.event === 'progress') tell.onState({ progress: event.data as RunProgress });
        else if (event.event === 'state') tell.onState({ state: (event.data as RunState).state });
        else if (event.event === 'result') {
          tell.onState(event.data as RunState);
          invalidate('/v1');
          return;
        }
      }
      // A service that was started again has counted its events anew.
      const state = await call<RunState>('GET', runPath(procedure, run), {
        isSilent: true,
        signal,
      });
      tell.onState(state);
      if (!isActive(state.state)) {
        invalidate('/v1');
        return;
      }
      after = 0;
    } catch (thrown) {
      const { code } = thrown as { code?: string };
      if (signal.aborted || (code !== 'UNREACHABLE' && code !== 'SHUTTING_DOWN')) throw thrown;
    }
    await new Promise((resolve) => setTimeout(resolve, RECONNECTION_MS));
  }
}

/**
 * Runs a procedure and waits for its end.
 * @param onState told at first, and whenever it is further
 * @throws RowanError, and Error in the words of a run that did not finish
 */
export async function runToEnd(
  procedure: string,
  onState: (run: string, state: Partial<RunState>) => void,
): Promise<RunState> {
  const run = await startRun(procedure);
  let state: Partial<RunState> = { state: 'initializing' };
  const onNews = (news: Partial<RunState>) => {
    state = { ...state, ...news };
    onState(run, state);
  };
  onNews({});
  const { signal } = new AbortController();
  await followRun(procedure, run, { onState: onNews, onLog: () => undefined }, signal);
  if (isActive(state.state)) {
    state = await call<RunState>('GET', runPath(procedure, run), { isSilent: true });
  }
  if (state.state !== 'finished') {
    throw new Error(
      state.progress?.exception?.error ?? `the run of ${procedure} was ${state.state}`,
    );
  }
  return state as RunState;
}

interface ServerEvent {
  readonly id: number;
  readonly event: string;
  readonly data: unknown;
}

async function* eventsOf(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of callStream('GET', path, { signal })) {
    text += decoder.decode(bytes, { stream: true });
    const parts = text.split('\n\n');
    text = parts.pop() ?? '';
    for (const part of parts) {
      const fields = new Map(
        part.split('\n').map((line): [string, string] => {
          const mark = line.indexOf(': ');
          return [line.slice(0, mark), line.slice(mark + 2)];
        }),
      );
      const data = fields.get('data');
      if (data === undefined) continue;
      yield {
        id: Number(fields.get('id') ?? 0),
        event: fields.get('event') ?? '',
        data: JSON.parse(data),
      };
    }
  }
}

/** Between 0 and 1, as far as it is known. */
export function shareDone(progress: RunProgress | undefined): number | undefined {
  if (progress?.percent !== undefined) return progress.percent;
  const steps = progress?.steps ?? [];
  if (steps.length === 0) return undefined;
  const done = steps.filter(({ ended }) => ended !== undefined).length;
  const current = steps.find(({ started, ended }) => started !== undefined && ended === undefined);
  const within = current?.type === 'percentile' ? current.value : 0;
  return (done + within) / steps.length;
}
