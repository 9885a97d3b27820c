import { accountSchemas, accounts } from './accounts';
import { settings, settingsSchemas } from './account-settings';
import { agentSchemas, agents } from './agents';
import { approvalSchemas, approvals } from './approvals';
import { audit, auditSchemas } from './audit';
import { billing, billingSchemas } from './billing';
import { callerToolCalls, callerToolSchemas } from './caller-tools';
import { catalog, catalogSchemas } from './catalog';
import { clientTokenSchemas, clientTokens } from './client-tokens';
import { fileSchemas, files } from './files';
import { mcpConnectionSchemas, mcpConnections, mcpConnectPages } from './mcp-connections';
import { mcpSchemas, mcpServers, mcpTools } from './mcp-tools';
import { memory, memorySchemas } from './memory';
import { operationSchemas, operations } from './operations';
import { projectSchemas, projects } from './projects';
import { publicReadSchemas, publicReads } from './public-reads';
import type { ApiSchemas, Route } from './route';
import { runEventSchemas, runEvents } from './run-events';
import { runReadSchemas, runReads } from './run-reads';
import { runSchemas, runs } from './runs';
import { sandboxSchemas, sandboxes } from './sandboxes';
import { scheduleSchemas, schedules } from './schedules';
import { secretSchemas, secrets } from './secrets';
import { sessionSchemas, sessions } from './sessions';
import { siteSchemas, sites } from './sites';
import { evaluationSchemas, evaluations } from './evaluations';
import { skillSchemas, skills } from './skills';
import { socketSchemas } from './sockets';
import { threadSchemas, threads } from './threads';
import { userSchemas, users } from './users';
import { webhookTriggerSchemas, webhookTriggers } from './webhook-triggers';
import { webhookSchemas, webhooks } from './webhooks';

/** Every route of the API, by its operation id. */
export const apiRoutes = {
  ...accounts,
  ...agents,
  ...approvals,
  ...audit,
  ...billing,
  ...callerToolCalls,
  ...catalog,
  ...clientTokens,
  ...files,
  ...mcpConnections,
  ...mcpConnectPages,
  ...mcpServers,
  ...mcpTools,
  ...memory,
  ...operations,
  ...projects,
  ...publicReads,
  ...runs,
  ...runReads,
  ...runEvents,
  ...sandboxes,
  ...schedules,
  ...secrets,
  ...sessions,
  ...settings,
  ...sites,
  ...evaluations,
  ...skills,
  ...threads,
  ...users,
  ...webhookTriggers,
  ...webhooks,
} satisfies Record<string, Route>;

/** The named schemas of every resource. */
export const apiSchemas: readonly ApiSchemas[] = [
  accountSchemas,
  agentSchemas,
  approvalSchemas,
  auditSchemas,
  billingSchemas,
  callerToolSchemas,
  catalogSchemas,
  clientTokenSchemas,
  fileSchemas,
  mcpConnectionSchemas,
  mcpSchemas,
  memorySchemas,
  operationSchemas,
  projectSchemas,
  publicReadSchemas,
  runSchemas,
  runReadSchemas,
  runEventSchemas,
  sandboxSchemas,
  scheduleSchemas,
  secretSchemas,
  sessionSchemas,
  settingsSchemas,
  siteSchemas,
  evaluationSchemas,
  skillSchemas,
  socketSchemas,
  threadSchemas,
  userSchemas,
  webhookTriggerSchemas,
  webhookSchemas,
];
