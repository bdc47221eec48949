import { describe, expect, test } from 'vitest';
import {
  acceptedCoding,
  acceptedFormat,
  prefersPage,
} from '../../../../src/service/route/negotiation.ts';

describe('the format of a query', () => {
  test.each([
    ['', 'full'],
    ['*/*', 'full'],
    ['image/png', 'full'],
    ['text/csv', 'csv'],
    ['TEXT/CSV; charset=utf-8', 'csv'],
    ['application/x-ndjson, text/csv', 'ndjson'],
    ['application/x-ndjson;q=0.5, text/csv;q=0.8', 'csv'],
    ['text/csv;q=0, application/json', 'full'],
    ['application/vnd.apache.arrow.stream, */*;q=0.1', 'arrow'],
  ])('for Accept: %s is %s', (accept, format) => {
    expect(acceptedFormat(accept)).toBe(format);
  });
});

describe('a page instead of JSON', () => {
  test.each([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
    ['text/html,*/*', true],
    ['application/json, text/plain, */*', false],
    ['*/*', false],
    ['text/html;q=0, */*', false],
    [undefined, false],
  ])('for Accept: %s: %s', (accept, expected) => {
    expect(prefersPage(accept)).toBe(expected);
  });
});

describe('the coding of a body', () => {
  const codings = ['zstd', 'br', 'gzip'] as const;

  test.each([
    [undefined, undefined],
    ['', undefined],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.5, gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['*', 'zstd'],
    ['identity, gzip;q=0.5', undefined],
    ['identity', undefined],
    ['deflate', undefined],
    ['zstd;q=0, *', 'br'],
    ['gzip;q=0', undefined],
  ])('for Accept-Encoding: %s is %s', (header, coding) => {
    expect(acceptedCoding(header, codings)).toBe(coding);
  });
});
