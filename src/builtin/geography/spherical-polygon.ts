// Polygons on the sphere: rings of points joined by great-circle arcs.

/** A unit vector. */
export type SpherePoint = readonly [x: number, y: number, z: number];

/** A closed ring with the enclosed side, the smaller one, on its left. */
export type Ring = readonly SpherePoint[];

/** The first ring is the outside, the others are holes. */
export type SphericalPolygon = readonly Ring[];

export function spherePoint(latitude: number, longitude: number): SpherePoint {
  const lat = (latitude * Math.PI) / 180;
  const lon = (longitude * Math.PI) / 180;
  return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
}

/** Turns the ring so that it encloses the smaller side; undefined below three distinct points. */
export function makeRing(points: readonly SpherePoint[]): Ring | undefined {
  const distinct = points.filter((point, index) => {
    const next = points[(index + 1) % points.length] as SpherePoint;
    return points.length === 1 || !samePoint(point, next);
  });
  const keys = new Set(distinct.map((point) => point.join()));
  if (keys.size < 3) return undefined;
  return turningAngle(distinct) >= 0 ? distinct : [...distinct].reverse();
}

export function polygonContains(polygon: SphericalPolygon, point: SpherePoint): boolean {
  const [outside, ...holes] = polygon;
  if (outside === undefined || !ringContains(outside, point)) return false;
  return !holes.some((hole) => ringContains(hole, point));
}

/**
 * Seen from the point, the ring turns once around it, counter-clockwise, exactly when the point
 * lies on the left of the ring and its antipode does not.
 */
function ringContains(ring: Ring, point: SpherePoint): boolean {
  let angle = 0;
  for (let i = 0; i < ring.length; i++) {
    const a = ring[i] as SpherePoint;
    const b = ring[(i + 1) % ring.length] as SpherePoint;
    angle += Math.atan2(dot(point, cross(a, b)), dot(a, b) - dot(point, a) * dot(point, b));
  }
  return angle > Math.PI;
}

/**
 * The sum of the turns at the corners is 2π less the area on the left (Gauss-Bonnet), so its sign
 * says whether that is the smaller side.
 */
function turningAngle(ring: Ring): number {
  const normals = ring.map((point, i) => cross(point, ring[(i + 1) % ring.length] as SpherePoint));
  return ring.reduce((sum, point, i) => {
    const before = normals[(i + ring.length - 1) % ring.length] as SpherePoint;
    const after = normals[i] as SpherePoint;
    return sum + Math.atan2(dot(point, cross(before, after)), dot(before, after));
  }, 0);
}

function samePoint(a: SpherePoint, b: SpherePoint): boolean {
  return a[0] === b[0] && a[1] === b[1] && a[2] === b[2];
}

function dot(a: SpherePoint, b: SpherePoint): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

function cross(a: SpherePoint, b: SpherePoint): SpherePoint {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
