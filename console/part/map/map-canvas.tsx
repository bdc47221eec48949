// The canvas of a map: dragging moves, the wheel and two fingers zoom, Shift and dragging chooses a
// part. The keyboard does all of it: arrows, plus, minus, 0, and Enter for what is seen.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { MapPoints } from '../../worker/protocol.ts';
import { Button } from '../basic.tsx';
import {
  type Box,
  boundsOf,
  boxOf,
  dataAt,
  drawPoints,
  type MapSize,
  moved,
  nearestRow,
  type Palette,
  pixelAt,
  radiusFor,
  type Window,
  windowOf,
  zoomed,
} from './map-view.ts';

interface MapCanvasProps {
  readonly points: MapPoints;
  readonly label: string;
  readonly palette: Palette;
  readonly group: number | undefined;
  readonly box: Box | undefined;
  readonly onBox: (box: Box | undefined) => void;
  /** words about a row, shown beside its point */
  readonly describe: (row: number) => Promise<readonly string[]>;
}

const HOVER_PIXELS = 14;
const STEP_PIXELS = 60;
const ZOOM_STEP = 1.4;

interface Place {
  readonly x: number;
  readonly y: number;
}

interface Grip {
  readonly mode: 'move' | 'choose';
  readonly from: Place;
  last: Place;
}

export function MapCanvas(props: MapCanvasProps) {
  const { points, label, palette, group, box, onBox, describe } = props;
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState<MapSize>({ width: 0, height: 0 });
  const bounds = useMemo(() => boundsOf(points), [points.x, points.y]);
  const whole = useMemo(() => windowOf(bounds, size), [bounds, size]);
  const [moving, setWindow] = useState<Window>();
  const window = moving ?? whole;
  const [isChoosing, setChoosing] = useState(false);
  const [drawnBox, setDrawnBox] = useState<Box>();
  const [hovered, setHovered] = useState<number>();
  const [words, setWords] = useState<readonly string[]>([]);
  const grips = useRef(new Map<number, Grip>());

  useEffect(() => setWindow(undefined), [bounds]);

  useEffect(() => {
    const element = holder.current as HTMLDivElement;
    const observer = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // One picture a frame, however many events come between.
  useEffect(() => {
    const frame = requestAnimationFrame(() => {
      const context = canvas.current?.getContext('2d', { alpha: false });
      if (canvas.current === null || !context || size.width === 0) return;
      const ratio = devicePixelRatio || 1;
      const width = Math.round(size.width * ratio);
      const height = Math.round(size.height * ratio);
      if (canvas.current.width !== width) canvas.current.width = width;
      if (canvas.current.height !== height) canvas.current.height = height;
      const image = context.createImageData(width, height);
      const radius = radiusFor(points.x.length, window.scaleX / whole.scaleX, ratio);
      const shown = drawnBox ?? box;
      drawPoints(image, points, window, radius, ratio, palette, { group, box: shown });
      context.putImageData(image, 0, 0);
    });
    return () => cancelAnimationFrame(frame);
  }, [points, window, whole, size, palette, group, box, drawnBox]);

  useEffect(() => {
    let isGone = false;
    setWords([]);
    if (hovered !== undefined) {
      describe(hovered).then(
        (found) => !isGone && setWords(found),
        () => undefined,
      );
    }
    return () => {
      isGone = true;
    };
  }, [hovered, describe]);

  const placeOf = (event: MouseEvent): Place => {
    const corner = holder.current?.getBoundingClientRect();
    return { x: event.clientX - (corner?.left ?? 0), y: event.clientY - (corner?.top ?? 0) };
  };
  const zoom = (factor: number, at: Place = { x: size.width / 2, y: size.height / 2 }) =>
    setWindow(zoomed(window, factor, at, size, whole));

  const onWheel = (event: WheelEvent) => {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    zoom(Math.exp(-event.deltaY * pixels * 0.0016), placeOf(event));
  };
  const wheel = useRef(onWheel);
  wheel.current = onWheel;
  useEffect(() => {
    // Not passive: the page must not scroll as well.
    const element = canvas.current as HTMLCanvasElement;
    const listen = (event: WheelEvent) => wheel.current(event);
    element.addEventListener('wheel', listen, { passive: false });
    return () => element.removeEventListener('wheel', listen);
  }, []);

  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    canvas.current?.setPointerCapture(event.pointerId);
    const from = placeOf(event);
    const mode = event.shiftKey || isChoosing ? 'choose' : 'move';
    grips.current.set(event.pointerId, { mode, from, last: from });
    setHovered(undefined);
  };
  const onPointerMove = (event: PointerEvent) => {
    const at = placeOf(event);
    const grip = grips.current.get(event.pointerId);
    if (grip === undefined) {
      setHovered(nearestRow(points, window, at, size, HOVER_PIXELS));
      return;
    }
    const other = [...grips.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      const before = distance(grip.last, other.last);
      if (before > 0) zoom(distance(at, other.last) / before, other.last);
    } else if (grip.mode === 'choose') setDrawnBox(boxBetween(grip.from, at, window, size));
    else setWindow(moved(window, at.x - grip.last.x, at.y - grip.last.y));
    grip.last = at;
  };
  const onPointerUp = (event: PointerEvent) => {
    const grip = grips.current.get(event.pointerId);
    grips.current.delete(event.pointerId);
    if (grip?.mode !== 'choose') return;
    const at = placeOf(event);
    setDrawnBox(undefined);
    onBox(distance(grip.from, at) < 4 ? undefined : boxBetween(grip.from, at, window, size));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, readonly [number, number]>> = {
      ArrowLeft: [STEP_PIXELS, 0],
      ArrowRight: [-STEP_PIXELS, 0],
      ArrowUp: [0, STEP_PIXELS],
      ArrowDown: [0, -STEP_PIXELS],
    };
    const step = steps[event.key];
    let next = window;
    if (step !== undefined) next = moved(window, ...step);
    else if (event.key === '+' || event.key === '=') {
      next = zoomed(window, ZOOM_STEP, middleOf(size), size, whole);
    } else if (event.key === '-') {
      next = zoomed(window, 1 / ZOOM_STEP, middleOf(size), size, whole);
    } else if (event.key === '0') next = whole;
    else if (event.key === 'Enter') onBox(boxOf(window, size));
    else if (event.key === 'Escape' && box !== undefined) onBox(undefined);
    else return;
    event.preventDefault();
    setWindow(next);
    setHovered(nearestRow(points, next, middleOf(size), size, size.width));
  };

  const marked =
    hovered === undefined
      ? undefined
      : pixelAt(window, points.x[hovered] as number, points.y[hovered] as number, size);
  return (
    <div ref={holder} class="map-canvas">
      {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it takes all keys itself */}
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label={`${label}. Arrows move, plus and minus zoom, 0 shows all, Enter chooses what is seen.`}
        class={isChoosing ? 'choosing' : ''}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={onPointerUp}
        onPointerLeave={() => setHovered(undefined)}
        onDblClick={(event) => zoom(ZOOM_STEP ** 2, placeOf(event))}
        onKeyDown={onKeyDown}
      />
      <Frame box={drawnBox ?? box} window={window} size={size} />
      {marked !== undefined && (
        <>
          <span class="map-ring" style={{ left: `${marked.x}px`, top: `${marked.y}px` }} />
          {words.length > 0 && (
            <div
              class={`map-tip${marked.x > size.width / 2 ? ' left' : ''}${marked.y > size.height / 2 ? ' up' : ''}`}
              style={{ left: `${marked.x}px`, top: `${marked.y}px` }}
            >
              {words.map((line) => (
                <span key={line}>{line}</span>
              ))}
            </div>
          )}
        </>
      )}
      <div class="map-tools">
        <Button icon="plus" label="Nearer" onClick={() => zoom(ZOOM_STEP)} />
        <Button icon="minus" label="Farther" onClick={() => zoom(1 / ZOOM_STEP)} />
        <Button icon="whole" label="Show all" onClick={() => setWindow(undefined)} />
        <Button
          icon="choose"
          label="Choose a part (Shift and drag)"
          aria-pressed={isChoosing}
          onClick={() => setChoosing(!isChoosing)}
        />
      </div>
      <p class="unseen" aria-live="polite">
        {words.join(', ')}
      </p>
    </div>
  );
}

/** The chosen part, as far as it is seen. */
function Frame({
  box,
  window,
  size,
}: {
  readonly box: Box | undefined;
  readonly window: Window;
  readonly size: MapSize;
}) {
  if (box === undefined) return null;
  const from = pixelAt(window, box.left, box.top, size);
  const to = pixelAt(window, box.right, box.bottom, size);
  return (
    <span
      class="map-frame"
      style={{
        left: `${from.x}px`,
        top: `${from.y}px`,
        width: `${to.x - from.x}px`,
        height: `${to.y - from.y}px`,
      }}
    />
  );
}

function middleOf({ width, height }: MapSize): Place {
  return { x: width / 2, y: height / 2 };
}

function distance(a: Place, b: Place): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

function boxBetween(a: Place, b: Place, window: Window, size: MapSize): Box {
  const [ax, ay] = dataAt(window, a, size);
  const [bx, by] = dataAt(window, b, size);
  return {
    left: Math.min(ax, bx),
    right: Math.max(ax, bx),
    bottom: Math.min(ay, by),
    top: Math.max(ay, by),
  };
}
