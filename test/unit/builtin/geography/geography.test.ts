import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { geoDistance } from '../../../../src/builtin/geography/geography.ts';
import {
  makeRing,
  polygonContains,
  spherePoint,
} from '../../../../src/builtin/geography/spherical-polygon.ts';
import { resultOf } from '../../../support/builtin-query.ts';

const latitude = fc.double({ min: -90, max: 90, noNaN: true });
const longitude = fc.double({ min: -180, max: 180, noNaN: true });

test('distances are symmetric, at most half the circumference, and wrap around', () => {
  fc.assert(
    fc.property(latitude, longitude, latitude, longitude, (lat1, lon1, lat2, lon2) => {
      const distance = geoDistance(lat1, lon1, lat2, lon2);
      expect(geoDistance(lat2, lon2, lat1, lon1)).toBeCloseTo(distance, 4);
      expect(distance).toBeLessThanOrEqual(Math.PI * 6_371_008.8 + 1e-6);
      expect(geoDistance(lat1, lon1 + 360, lat2, lon2)).toBeCloseTo(distance, 2);
    }),
  );
  expect(geoDistance(95, 0, 90, 50)).toBeCloseTo(0, 6);
});

describe('areas', () => {
  const contains = (points: readonly [number, number][], lat: number, lon: number): boolean => {
    const ring = makeRing(points.map(([x, y]) => spherePoint(y, x)));
    return ring !== undefined && polygonContains([ring], spherePoint(lat, lon));
  };

  test('the direction of the ring does not matter', () => {
    const square: [number, number][] = [
      [0, 0],
      [10, 0],
      [10, 10],
      [0, 10],
    ];
    for (const ring of [
      square,
      [...square].reverse(),
      [...square, square[0] as [number, number]],
    ]) {
      expect(contains(ring, 5, 5)).toBe(true);
      expect(contains(ring, -5, 5)).toBe(false);
      expect(contains(ring, -5, -175)).toBe(false);
    }
  });

  test('edges are great circles, not parallels', () => {
    const ring: [number, number][] = [
      [0, 50],
      [90, 50],
      [90, 40],
      [0, 40],
    ];
    expect(contains(ring, 55, 45)).toBe(true);
    expect(contains(ring, 45, 45)).toBe(false);
  });

  test('an area may hold a pole or cross the date line', () => {
    expect(
      contains(
        [
          [0, 80],
          [120, 80],
          [-120, 80],
        ],
        90,
        0,
      ),
    ).toBe(true);
    expect(
      contains(
        [
          [170, -10],
          [-170, -10],
          [-170, 10],
          [170, 10],
        ],
        0,
        180,
      ),
    ).toBe(true);
    expect(
      contains(
        [
          [170, -10],
          [-170, -10],
          [-170, 10],
          [170, 10],
        ],
        0,
        0,
      ),
    ).toBe(false);
  });

  test('a ring of two points is none', () => {
    expect(makeRing([spherePoint(0, 0), spherePoint(1, 1), spherePoint(0, 0)])).toBeUndefined();
  });
});

function geometry(type: string, coordinates: unknown): string {
  return `parse_json('${JSON.stringify({ type, coordinates })}')`;
}

const SQUARE = [
  [0, 0],
  [10, 0],
  [10, 10],
  [0, 10],
];

test.each([
  [
    geometry('Polygon', [
      SQUARE,
      [
        [4, 4],
        [6, 4],
        [5, 5],
        [4, 4],
      ],
    ]),
    1,
  ],
  [
    geometry('Polygon', [
      [
        [1, 1],
        [1, 1],
        [2, 2],
      ],
    ]),
    0,
  ],
  ["{'Polygon' AS type, [[[0, 0], [10, 0], [10, 10], [0, 10]]] AS coordinates}", 1],
  ['null', null],
])('ST_Contains_Point(%s, 8, 5) is %s', (area, expected) => {
  expect(resultOf(`ST_Contains_Point(${area}, 8, 5)`)).toBe(expected);
});

test.each([
  ["{'Polygon' AS type}", "Could not find required column 'coordinates'"],
  ["{'Polygon' AS type, 5 AS coordinates}", 'Attempt to access non-row as row'],
  ["{'Polygon' AS type, [5] AS coordinates}", 'Attempt to access non-row as row'],
  ["{'Polygon' AS type, [[[5]]] AS coordinates}", 'GeoJSON points should be [lat,long]'],
])('%s is no area', (area, message) => {
  expect(() => resultOf(`ST_Contains_Point(${area}, 8, 5)`)).toThrow(message);
});

test('the truth about a point is as old as the epoch', () => {
  const area = geometry('Polygon', [SQUARE]);
  expect(resultOf(`latest_timestamp(ST_Contains_Point(${area}, 8, 5))`)).toEqual({
    ts: '1970-01-01T00:00:00Z',
  });
});
