import { z } from 'zod';
import { apiRoutes } from '../all-routes';
import type { Route } from '../route';
import { refuseFields } from './coverage';
import { facadeCoverage, facadeRoutes } from './facade-routes';

const withoutNames = (path: string): string => path.replaceAll(/\{\w+\}/g, '{}').replace(/\/$/, '');
const all = Object.values<Route>(facadeRoutes).map(({ method, path }) => `${method} ${withoutNames(path)}`);

describe.each(Object.entries(facadeCoverage))('what is said of the façade %s', (_, { path, routes, refusedRoutes }) => {
  it('names the routes that there are, and no other', () => {
    const named = Object.keys(routes).map((route) => {
      const [method, below = ''] = route.split(' ');
      return `${method} ${withoutNames(path + below)}`;
    });
    expect(named.toSorted()).toEqual(all.filter((route) => route.split(' ')[1]?.startsWith(path)).toSorted());
  });

  it('refuses no route that is served', () => {
    for (const route of Object.keys(refusedRoutes)) expect(Object.keys(routes)).not.toContain(route);
  });
});

describe.each(Object.entries(facadeCoverage))('what the façade %s says to use instead', (_, coverage) => {
  it('are routes of the API that there are', () => {
    const reasons = JSON.stringify([coverage.routes, coverage.refusedRoutes, coverage.requests]);
    const named = [...reasons.matchAll(/`(?:[A-Z]+ )?(\/v1\/[^`?]+)`/g)].map(([, route = '']) => withoutNames(route));
    const paths = Object.values<Route>(apiRoutes).map((route) => withoutNames(route.path));
    expect(named.filter((route) => !paths.some((one) => `${one}/`.startsWith(`${route}/`)))).toEqual([]);
  });
});

describe('refused fields', () => {
  const schema = z.strictObject(refuseFields({ store: { why: 'it is always so', harmless: [true] } }));

  it.each([undefined, null, '', [], true])('may ask for nothing: %j', (store) => {
    expect(schema.safeParse({ store }).success).toBe(true);
  });

  it.each([false, 'x', [1], {}])('are refused with the reason: %j', (store) => {
    expect(schema.safeParse({ store }).error?.issues).toMatchObject([
      { path: ['store'], message: 'is not served: it is always so' },
    ]);
  });
});
