import { Link, Navigate, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import {
  readCompareSearch,
  readDeliverySearch,
  readAgentsSearch,
  readAuditSearch,
  readEvaluationSearch,
  readMemorySearch,
  readStoreSearch,
  readRunsSearch,
  readSandboxSearch,
  readSkillSearch,
  readThreadsSearch,
  readUsageSearch,
} from './searches.ts';
import { gatewayUrl } from './gateway-url.ts';
import { RunsPage } from './runs/runs-page.tsx';
import { requestEarly } from './session/early-requests.ts';
import { lazyPage } from './session/load-files.ts';
import { useMay } from './session/use-session.ts';
import { Shell } from './shell/shell.tsx';
import { Failure } from './ui/states.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <div className="state">
      <h1>There is no such page</h1>
      <Link to="/runs">All runs</Link>
    </div>
  ),
});
const getParentRoute = () => root;

/** The scrubber's place, so that a link shows a run as it was, and whether its waterfall is shown. */
const readRunSearch = ({ seq, view }: Record<string, unknown>): { seq?: number; view?: 'waterfall' } => ({
  ...(typeof seq === 'number' && seq > 0 && { seq: Math.floor(seq) }),
  ...(view === 'waterfall' && { view }),
});

/** The run whose request begins again. */
const readNewRunSearch = ({ from }: Record<string, unknown>): { from?: string } =>
  typeof from === 'string' && from !== '' ? { from } : {};

/** How many days the page of errors goes back. */
const readErrorsSearch = ({ days }: Record<string, unknown>): { days?: number } =>
  typeof days === 'number' && days > 0 ? { days: Math.min(Math.ceil(days), 90) } : {};

/** Those who administer the account see what happens in it, and others begin a conversation where they may. */
function FirstPage() {
  const [mayWrite, isAdmin] = [useMay('write'), useMay('admin')];
  return <Navigate to={mayWrite && !isAdmin ? '/threads/new' : '/runs'} replace />;
}

const routes = [
  createRoute({ getParentRoute, path: '/', component: FirstPage }),
  createRoute({ getParentRoute, path: '/runs', component: RunsPage, validateSearch: readRunsSearch }),
  createRoute({
    getParentRoute,
    path: '/runs/new',
    component: lazyPage(() => import('./new-run/new-run-page.tsx'), 'NewRunPage'),
    validateSearch: readNewRunSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/runs/errors',
    component: lazyPage(() => import('./runs/errors-page.tsx'), 'ErrorsPage'),
    validateSearch: readErrorsSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/runs/evaluations',
    component: lazyPage(() => import('./evaluations/evaluations-page.tsx'), 'EvaluationsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/runs/evaluations/$evaluationId',
    component: lazyPage(() => import('./evaluations/evaluation-page.tsx'), 'EvaluationPage'),
    validateSearch: readEvaluationSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/runs/$runId',
    component: lazyPage(() => import('./run/run-page.tsx'), 'RunPage'),
    validateSearch: readRunSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/inbox',
    component: lazyPage(() => import('./inbox/inbox-page.tsx'), 'InboxPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/threads',
    component: lazyPage(() => import('./threads/threads-page.tsx'), 'ThreadsPage'),
    validateSearch: readThreadsSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/threads/new',
    component: lazyPage(() => import('./threads/thread-page.tsx'), 'NewThreadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/threads/$threadId',
    component: lazyPage(() => import('./threads/thread-page.tsx'), 'ThreadPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/usage',
    component: lazyPage(() => import('./usage/usage-page.tsx'), 'UsagePage'),
    validateSearch: readUsageSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/users/$user',
    component: lazyPage(() => import('./users/user-page.tsx'), 'UserPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/keys',
    component: lazyPage(() => import('./keys/keys-page.tsx'), 'KeysPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/keys/audit',
    component: lazyPage(() => import('./keys/audit-page.tsx'), 'AuditPage'),
    validateSearch: readAuditSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/keys/secrets',
    component: lazyPage(() => import('./keys/secrets-page.tsx'), 'SecretsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/keys/tokens',
    component: lazyPage(() => import('./keys/client-tokens-page.tsx'), 'ClientTokensPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents/skills',
    component: lazyPage(() => import('./skills/skills-page.tsx'), 'SkillsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents/skills/$skillId',
    component: lazyPage(() => import('./skills/skill-page.tsx'), 'SkillPage'),
    validateSearch: readSkillSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/agents/memory',
    component: lazyPage(() => import('./memory/memory-page.tsx'), 'MemoryPage'),
    validateSearch: readMemorySearch,
  }),
  createRoute({
    getParentRoute,
    path: '/agents/memory/$storeId',
    component: lazyPage(() => import('./memory/store-page.tsx'), 'StorePage'),
    validateSearch: readStoreSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/agents/mcp',
    component: lazyPage(() => import('./mcp/mcp-page.tsx'), 'McpPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents/settings',
    component: lazyPage(() => import('./agents/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents',
    component: lazyPage(() => import('./agents/agents-page.tsx'), 'AgentsPage'),
    validateSearch: readAgentsSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/agents/new',
    component: lazyPage(() => import('./agents/agent-page.tsx'), 'NewAgentPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/agents/$agentId',
    component: lazyPage(() => import('./agents/agent-page.tsx'), 'AgentPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/compare',
    component: lazyPage(() => import('./compare/compare-page.tsx'), 'ComparePage'),
    validateSearch: readCompareSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/schedules',
    component: lazyPage(() => import('./triggers/schedules-page.tsx'), 'SchedulesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/schedules/$scheduleId',
    component: lazyPage(() => import('./triggers/schedule-page.tsx'), 'SchedulePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/schedules/webhooks',
    component: lazyPage(() => import('./triggers/triggers-page.tsx'), 'TriggersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/schedules/webhooks/$triggerId',
    component: lazyPage(() => import('./triggers/trigger-page.tsx'), 'TriggerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/schedules/endpoints',
    component: lazyPage(() => import('./endpoints/endpoints-page.tsx'), 'EndpointsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/schedules/endpoints/$endpointId',
    component: lazyPage(() => import('./endpoints/endpoint-page.tsx'), 'EndpointPage'),
    validateSearch: readDeliverySearch,
  }),
  createRoute({
    getParentRoute,
    path: '/sandboxes',
    component: lazyPage(() => import('./sandboxes/sandboxes-page.tsx'), 'SandboxesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/sandboxes/$sandboxId',
    component: lazyPage(() => import('./sandboxes/sandbox-page.tsx'), 'SandboxPage'),
    validateSearch: readSandboxSearch,
  }),
  createRoute({
    getParentRoute,
    path: '/health',
    component: lazyPage(() => import('./health/health-page.tsx'), 'HealthPage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: `${new URL(gatewayUrl()).pathname.replace(/\/$/, '')}/console`,
  scrollRestoration: true,
  scrollToTopSelectors: ['#page'],
  defaultErrorComponent: ({ error }) => <Failure error={error} />,
});

/** Loads what the page of this address consists of, and of a run what it shows first, for when there is a session. */
export function preloadPage(): void {
  const matches: readonly { readonly routeId: keyof typeof router.routesById; readonly params: object }[] =
    router.matchRoutes(router.latestLocation.pathname, router.latestLocation.search);
  for (const { routeId, params } of matches) {
    if (routeId === '/runs/$runId' && 'runId' in params) requestRun(String(params.runId));
    void router.loadRouteChunk(router.routesById[routeId]);
  }
}

/** As the client asks for it. A hidden page holds no connection. */
function requestRun(runId: string): void {
  const url = `${gatewayUrl()}/v1/runs/${encodeURIComponent(runId)}`;
  requestEarly(url);
  if (!document.hidden) requestEarly(`${url}/stream`, { Accept: 'text/event-stream', 'Last-Event-ID': '0' });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
  interface HistoryState {
    /** What a new run begins with, where another page has prepared it. */
    readonly input?: string;
  }
}
