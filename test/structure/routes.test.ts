// What every route says about itself, in one list: the role that it needs, how much work it is, and
// its traits. A change of the list is a change of behaviour, to be read before it is taken over with
// `npx vitest run test/structure/routes.test.ts -u`.
import { expect, test } from 'vitest';
import { Rowan } from '../../src/index.ts';
import type { Route } from '../../src/service/route/route.ts';

test('every route is in the list with its traits', async () => {
  const rowan = await Rowan.open({ dataDir: null });
  try {
    const lines = rowan.dispatcher.routes.map(describeRoute).sort();
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('routes.txt');
  } finally {
    await rowan.close();
  }
});

test('what replicas answer changes nothing', async () => {
  const rowan = await Rowan.open({ dataDir: null });
  try {
    const shared = rowan.dispatcher.routes.filter(({ sharedDataOnly }) => sharedDataOnly);
    expect(shared.filter(({ role }) => role !== 'reader')).toEqual([]);
    expect(shared.filter(({ work }) => work === 'construction')).toEqual([]);
  } finally {
    await rowan.close();
  }
});

function describeRoute(route: Route): string {
  const traits = [
    route.isLight === undefined ? '' : 'light at times',
    route.sharedDataOnly === true ? 'shared data only' : '',
    route.streamsBody === undefined ? '' : 'body streams',
    route.bodyMayPause === true ? 'body may pause' : '',
    route.measured === undefined ? '' : `measured as ${route.measured}`,
    route.collectionOf === undefined ? '' : `gives an id to the ${route.collectionOf}`,
    route.lenient === true ? 'lenient' : '',
  ].filter((trait) => trait !== '');
  const head = `${route.path} ${route.verb}: ${route.role}, ${route.work ?? 'light'}`;
  return [head, ...traits].join(', ');
}
