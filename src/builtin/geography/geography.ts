// Distances and areas on the globe.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { failure } from '../../util/error.ts';
import { Row, Scalar, type Value } from '../../value/value.ts';
import { requireAtom, requireDouble, requireText, truthAtom } from '../conversion.ts';
import { family, INTEGER_TYPE, NUMBER_TYPE, parameter } from '../declare.ts';
import { rowOf } from '../vector/shape.ts';
import {
  makeRing,
  polygonContains,
  type Ring,
  type SpherePoint,
  type SphericalPolygon,
  spherePoint,
} from './spherical-polygon.ts';

const { scalar, value } = family('geography');

/** Mean radius in metres. */
const EARTH_RADIUS = 6_371_008.8;

/** What a point in polygon test is true since: the epoch. */
const EPOCH = 0;

export const geographyFunctions: readonly FunctionDeclaration[] = [
  scalar({
    name: 'geo_distance',
    summary: 'The distance in metres of two points on the sphere of the earth.',
    parameters: [
      parameter('lat1', 'latitude of the first point in degrees'),
      parameter('lon1', 'longitude of the first point in degrees'),
      parameter('lat2', 'latitude of the second point in degrees'),
      parameter('lon2', 'longitude of the second point in degrees'),
    ],
    examples: [['round(geo_distance(0, 0, 90, 0))', '10007557']],
    result: NUMBER_TYPE,
    evaluate: (...degrees) => {
      const [lat1, lon1, lat2, lon2] = degrees.map(requireDouble);
      return geoDistance(lat1 as number, lon1 as number, lat2 as number, lon2 as number);
    },
  }),
  value({
    name: 'ST_Contains_Point',
    summary: '1 when the area contains the point, else 0; edges are great-circle arcs.',
    parameters: [
      parameter(
        'geometry',
        "a row of a GeoJSON geometry: type 'Polygon' or 'MultiPolygon', coordinates as [lon, lat]",
      ),
      parameter('lat', 'latitude of the point in degrees'),
      parameter('lon', 'longitude of the point in degrees'),
    ],
    examples: [
      [
        `ST_Contains_Point(parse_json('{"type":"Polygon","coordinates":[[[0,0],[40,0],[40,10],[0,10]]]}'), 5, 30)`,
        '1',
      ],
    ],
    result: INTEGER_TYPE,
    timestamps: 'own',
    bind: () => {
      const polygonsOf = remembering(parseGeometry);
      return ([geometry, lat, lon]) => {
        const point = spherePoint(requireDouble(requireAtom(lat)), requireDouble(requireAtom(lon)));
        const polygons = polygonsOf(geometry as Value);
        const inside = polygons.some((polygon) => polygonContains(polygon, point));
        return new Scalar(truthAtom(inside), EPOCH);
      };
    },
  }),
];

/** Haversine formula; latitudes are clamped to the poles, longitudes wrap around. */
export function geoDistance(lat1: number, lon1: number, lat2: number, lon2: number): number {
  const phi1 = radians(clampLatitude(lat1));
  const phi2 = radians(clampLatitude(lat2));
  const sinLat = Math.sin((phi2 - phi1) / 2);
  const sinLon = Math.sin(radians(wrapLongitude(lon2) - wrapLongitude(lon1)) / 2);
  const h = Math.min(1, sinLat * sinLat + Math.cos(phi1) * Math.cos(phi2) * sinLon * sinLon);
  return 2 * EARTH_RADIUS * Math.atan2(Math.sqrt(h), Math.sqrt(1 - h));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

function clampLatitude(degrees: number): number {
  return Math.max(-90, Math.min(90, degrees));
}

function wrapLongitude(degrees: number): number {
  return degrees - 360 * Math.floor((degrees + 180) / 360);
}

/** Most queries test many points against one area: the last one is kept. */
function remembering<T>(parse: (value: Value) => T): (value: Value) => T {
  let last: { readonly value: Value; readonly parsed: T } | undefined;
  return (given) => {
    if (last?.value !== given) last = { value: given, parsed: parse(given) };
    return last.parsed;
  };
}

/** @throws SQL_EXECUTION naming the part of the geometry that is wrong */
function parseGeometry(geometry: Value): SphericalPolygon[] {
  if (!(geometry instanceof Row)) {
    throw failure('SQL_EXECUTION', 'argument 1 must be a row representing a GeoJson geometry');
  }
  const type = requireText(requireAtom(member(geometry, 'type')));
  const coordinates = member(geometry, 'coordinates');
  if (type === 'Polygon') return [parsePolygon(coordinates)];
  if (type === 'MultiPolygon') return elements(coordinates).map(parsePolygon);
  const message = `unknown polygon type: ${type}; accepted are Polygon and MultiPolygon`;
  throw failure('SQL_EXECUTION', message);
}

function member(geometry: Row, name: string): Value {
  const index = geometry.indexOf(name);
  if (index !== -1) return geometry.values[index] as Value;
  throw failure('SQL_EXECUTION', `Could not find required column '${name}' in the geometry`);
}

/** A first ring that is no ring leaves nothing; holes that are none are left out. */
function parsePolygon(coordinates: Value): SphericalPolygon {
  const [outside, ...holes] = elements(coordinates).map((ring) =>
    makeRing(elements(ring).map(parsePoint)),
  );
  if (outside === undefined) return [];
  return [outside, ...holes.filter((hole): hole is Ring => hole !== undefined)];
}

function parsePoint(point: Value): SpherePoint {
  const degrees = rowOf(point)?.values;
  if (degrees === undefined || degrees.length < 2) {
    throw failure('SQL_EXECUTION', 'GeoJSON points should be [lat,long]');
  }
  const [longitude, latitude] = degrees.map((part) => requireDouble(requireAtom(part)));
  return spherePoint(latitude as number, longitude as number);
}

function elements(list: Value): readonly Value[] {
  const row = rowOf(list);
  if (row !== undefined) return row.values;
  throw failure('SQL_EXECUTION', 'Attempt to access non-row as row in the coordinates');
}
