import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';
import { RunsPage } from './runs/runs-page.tsx';
import { readRunsSearch } from './runs/runs-search.ts';
import { Shell } from './shell/shell.tsx';
import { Empty, Failed } from './ui/states.tsx';
import { readUsageSearch } from './usage/usage-search.ts';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => <Empty title="There is no such page." />,
});
const getParentRoute = () => root;

/** The scrubber's place, so that a link shows a run as it was. */
const readRunSearch = ({ seq }: Record<string, unknown>): { seq?: number } =>
  typeof seq === 'number' && seq > 0 ? { seq: Math.floor(seq) } : {};

const routes = [
  createRoute({ getParentRoute, path: '/', beforeLoad: () => redirect({ to: '/runs', throw: true }) }),
  createRoute({ getParentRoute, path: '/runs', component: RunsPage, validateSearch: readRunsSearch }),
  createRoute({
    getParentRoute,
    path: '/runs/$runId',
    component: lazyRouteComponent(() => import('./run/run-page.tsx'), 'RunPage'),
    validateSearch: readRunSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/inbox',
    component: lazyRouteComponent(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/threads',
    component: lazyRouteComponent(() => import('./threads/threads-page.tsx'), 'ThreadsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/threads/new',
    component: lazyRouteComponent(() => import('./threads/thread-page.tsx'), 'NewThreadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/threads/$threadId',
    component: lazyRouteComponent(() => import('./threads/thread-page.tsx'), 'ThreadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/usage',
    component: lazyRouteComponent(() => import('./usage/usage-page.tsx'), 'UsagePage'),
    validateSearch: readUsageSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/keys',
    component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/audit',
    component: lazyRouteComponent(() => import('./keys/audit-page.tsx'), 'AuditPage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/console',
  defaultErrorComponent: ({ error }) => <Failed error={error} />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
