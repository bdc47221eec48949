// Draws points on a canvas, and says which of them is where. The pixels are set in memory: a hundred
// thousand points take a few milliseconds, where a call of the canvas for each takes ten times as long.
import type { MapPoints } from '../../worker/protocol.ts';

/** What part of the plane is seen: its middle, and how many pixels of the screen a unit of x takes. */
export interface Window {
  readonly x: number;
  readonly y: number;
  readonly scaleX: number;
  readonly scaleY: number;
}

/** In the units of the data. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly bottom: number;
  readonly top: number;
}

export interface Palette {
  readonly ground: string;
  readonly dim: string;
  readonly accent: string;
  readonly groups: readonly string[];
  /** from low to high */
  readonly scale: readonly string[];
}

export interface Emphasis {
  /** the group that stands out; the others are drawn dim */
  readonly group: number | undefined;
  readonly box: Box | undefined;
}

export interface MapSize {
  /** in pixels of the page */
  readonly width: number;
  readonly height: number;
}

const ZOOM_MAX = 2000;
const MARGIN_SHARE = 0.05;

/** The box of all points; of none the unit square. */
export function boundsOf({ x, y }: MapPoints): Box {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let row = 0; row < x.length; row++) {
    const px = x[row] as number;
    const py = y[row] as number;
    if (!Number.isFinite(px) || !Number.isFinite(py)) continue;
    if (px < left) left = px;
    if (px > right) right = px;
    if (py < bottom) bottom = py;
    if (py > top) top = py;
  }
  return left > right ? { left: 0, right: 1, bottom: 0, top: 1 } : { left, right, bottom, top };
}

/**
 * The window that shows a box whole. Distances mean the same in both directions, unless one range is
 * so much longer than the other that nothing would be seen.
 */
export function windowOf(box: Box, { width, height }: MapSize): Window {
  const spanX = box.right - box.left || 1;
  const spanY = box.top - box.bottom || 1;
  const share = 1 - 2 * MARGIN_SHARE;
  const scaleX = (width * share) / spanX;
  const scaleY = (height * share) / spanY;
  const isAlike = Math.max(spanX / spanY, spanY / spanX) < 8;
  const shared = Math.min(scaleX, scaleY);
  return {
    x: (box.left + box.right) / 2,
    y: (box.bottom + box.top) / 2,
    scaleX: isAlike ? shared : scaleX,
    scaleY: isAlike ? shared : scaleY,
  };
}

/** @param factor above 1: nearer. @param at in pixels, stays where it is */
export function zoomed(
  window: Window,
  factor: number,
  at: { readonly x: number; readonly y: number },
  size: MapSize,
  whole: Window,
): Window {
  const most = whole.scaleX * ZOOM_MAX;
  const least = whole.scaleX / 4;
  const wanted = Math.min(most, Math.max(least, window.scaleX * factor)) / window.scaleX;
  const [x, y] = dataAt(window, at, size);
  const scaleX = window.scaleX * wanted;
  const scaleY = window.scaleY * wanted;
  return {
    scaleX,
    scaleY,
    x: x - (at.x - size.width / 2) / scaleX,
    y: y + (at.y - size.height / 2) / scaleY,
  };
}

export function moved(window: Window, dx: number, dy: number): Window {
  return { ...window, x: window.x - dx / window.scaleX, y: window.y + dy / window.scaleY };
}

export function dataAt(
  { x, y, scaleX, scaleY }: Window,
  at: { readonly x: number; readonly y: number },
  { width, height }: MapSize,
): [x: number, y: number] {
  return [x + (at.x - width / 2) / scaleX, y - (at.y - height / 2) / scaleY];
}

export function pixelAt(
  window: Window,
  x: number,
  y: number,
  { width, height }: MapSize,
): { x: number; y: number } {
  return {
    x: width / 2 + (x - window.x) * window.scaleX,
    y: height / 2 - (y - window.y) * window.scaleY,
  };
}

/** What the window shows. */
export function boxOf(window: Window, size: MapSize): Box {
  const [left, top] = dataAt(window, { x: 0, y: 0 }, size);
  const [right, bottom] = dataAt(window, { x: size.width, y: size.height }, size);
  return { left, right, bottom, top };
}

/** The rows inside of a box, its edges included. */
export function rowsIn({ x, y }: MapPoints, { left, right, bottom, top }: Box): number[] {
  const rows: number[] = [];
  for (let row = 0; row < x.length; row++) {
    const px = x[row] as number;
    const py = y[row] as number;
    if (px >= left && px <= right && py >= bottom && py <= top) rows.push(row);
  }
  return rows;
}

/** The row whose point is nearest, if one is within so many pixels. Looks at all: 0.2 ms for 100,000. */
export function nearestRow(
  points: MapPoints,
  window: Window,
  at: { readonly x: number; readonly y: number },
  size: MapSize,
  within: number,
): number | undefined {
  const [x, y] = dataAt(window, at, size);
  let best = within * within;
  let found: number | undefined;
  for (let row = 0; row < points.x.length; row++) {
    const dx = ((points.x[row] as number) - x) * window.scaleX;
    const dy = ((points.y[row] as number) - y) * window.scaleY;
    const distance = dx * dx + dy * dy;
    if (distance <= best) {
      best = distance;
      found = row;
    }
  }
  return found;
}

/** Groups differ in form too: colour alone tells some people nothing. */
const FORMS: readonly ((dx: number, dy: number, r: number) => boolean)[] = [
  (dx, dy, r) => dx * dx + dy * dy <= r * r + 0.5,
  (dx, dy, r) => Math.max(Math.abs(dx), Math.abs(dy)) <= r * 0.85,
  (dx, dy, r) => dy <= r * 0.8 && Math.abs(dx) * 1.6 <= dy + r,
  (dx, dy, r) => Math.abs(dx) + Math.abs(dy) <= r * 1.25,
  (dx, dy, r) => Math.min(Math.abs(dx), Math.abs(dy)) <= r * 0.4,
];

/** The pixels of a form, as pairs of offsets. */
function stampOf(form: number, radius: number): Int32Array {
  const isInside = FORMS[form % FORMS.length] as (typeof FORMS)[number];
  const offsets: number[] = [];
  const reach = Math.ceil(radius * 1.3);
  for (let dy = -reach; dy <= reach; dy++) {
    for (let dx = -reach; dx <= reach; dx++) if (isInside(dx, dy, radius)) offsets.push(dx, dy);
  }
  return Int32Array.from(offsets);
}

export function radiusFor(pointCount: number, zoom: number, ratio: number): number {
  const base = pointCount > 50_000 ? 1.2 : pointCount > 5000 ? 2 : pointCount > 500 ? 3 : 4.5;
  return Math.min(7, base * Math.max(1, zoom ** 0.25)) * ratio;
}

const OPACITY = 190;
const SCALE_STEPS = 64;

/**
 * The picture of the points in a window.
 * @param ratio pixels of the device for one of the page
 */
export function drawPoints(
  image: ImageData,
  points: MapPoints,
  window: Window,
  radius: number,
  ratio: number,
  palette: Palette,
  { group, box }: Emphasis,
): void {
  const pixels = new Uint32Array(image.data.buffer);
  const { width, height } = image;
  pixels.fill(packed(palette.ground, 255));
  const { x, y, colours } = points;
  const scaleX = window.scaleX * ratio;
  const scaleY = window.scaleY * ratio;
  const shiftX = width / 2 - window.x * scaleX;
  const shiftY = height / 2 + window.y * scaleY;
  const dim = packed(palette.dim, 255);
  const { inks, inkOf } = inksOf(points, palette);
  const isGrouped = colours.kind === 'groups';
  const stamps = inks.map((_, index) => stampOf(isGrouped ? index : 0, radius));
  const hasEmphasis = group !== undefined || box !== undefined;
  const isMeant = (row: number): boolean => {
    if (group !== undefined && isGrouped && colours.codes[row] !== group) return false;
    if (box === undefined) return true;
    const px = x[row] as number;
    const py = y[row] as number;
    return px >= box.left && px <= box.right && py >= box.bottom && py <= box.top;
  };
  // What stands out is drawn last, so that nothing covers it.
  for (const pass of hasEmphasis ? [0, 1] : [1]) {
    for (let row = 0; row < x.length; row++) {
      const px = Math.round((x[row] as number) * scaleX + shiftX);
      const py = Math.round(shiftY - (y[row] as number) * scaleY);
      if (!(px >= 0 && px < width && py >= 0 && py < height)) continue;
      if (hasEmphasis && isMeant(row) !== (pass === 1)) continue;
      const ink = inkOf[row] as number;
      const colour = pass === 0 ? dim : (inks[ink] as number);
      const opacity = pass === 0 ? OPACITY >> 2 : OPACITY;
      blend(pixels, width, height, px, py, stamps[ink] as Int32Array, colour, opacity);
    }
  }
}

function blend(
  pixels: Uint32Array,
  width: number,
  height: number,
  px: number,
  py: number,
  stamp: Int32Array,
  colour: number,
  opacity: number,
): void {
  const rest = 256 - opacity;
  const odd = ((colour >>> 8) & 0xff) * opacity;
  const even = (colour & 0xff00ff) * opacity;
  for (let index = 0; index < stamp.length; index += 2) {
    const tx = px + (stamp[index] as number);
    const ty = py + (stamp[index + 1] as number);
    if (tx < 0 || tx >= width || ty < 0 || ty >= height) continue;
    const at = ty * width + tx;
    const under = pixels[at] as number;
    // Red and blue in one multiplication: their products do not meet.
    const outer = (((under & 0xff00ff) * rest + even) >>> 8) & 0xff00ff;
    const inner = ((((under >>> 8) & 0xff) * rest + odd) >>> 8) & 0xff;
    pixels[at] = (0xff000000 | (inner << 8) | outer) >>> 0;
  }
}

function inksOf({ x, colours }: MapPoints, palette: Palette) {
  if (colours.kind === 'groups') {
    const used = colours.groups.map((_, index) => palette.groups[index % palette.groups.length]);
    const inks = [...used, palette.dim].map((colour) => packed(colour as string, 255));
    return { inks, inkOf: colours.codes };
  }
  const inkOf = new Uint8Array(x.length);
  if (colours.kind === 'none') return { inks: [packed(palette.accent, 255)], inkOf };
  const { values, from, to } = colours;
  const inks = Array.from({ length: SCALE_STEPS }, (_, step) =>
    packed(scaleColour(palette.scale, step / (SCALE_STEPS - 1)), 255),
  );
  inks.push(packed(palette.dim, 255));
  for (let row = 0; row < values.length; row++) {
    const share = ((values[row] as number) - from) / (to - from || 1);
    inkOf[row] = Number.isNaN(share)
      ? SCALE_STEPS
      : Math.round(Math.min(1, Math.max(0, share)) * (SCALE_STEPS - 1));
  }
  return { inks, inkOf };
}

/** Between the colours of a scale. @param share from 0 to 1 */
function scaleColour(scale: readonly string[], share: number): string {
  const position = share * (scale.length - 1);
  const index = Math.min(scale.length - 2, Math.floor(position));
  const from = channels(scale[index] as string);
  const to = channels(scale[index + 1] as string);
  const mixed = from.map((value, channel) =>
    Math.round(value + (position - index) * ((to[channel] as number) - value)),
  );
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

function channels(colour: string): [number, number, number] {
  const number = Number.parseInt(colour.slice(1), 16);
  return [number >> 16, (number >> 8) & 0xff, number & 0xff];
}

/** As ImageData holds it: red in the lowest byte. */
function packed(colour: string, alpha: number): number {
  const [red, green, blue] = channels(colour);
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
