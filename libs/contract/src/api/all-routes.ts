import { agentSchemas, agents } from './agents';
import type { ApiSchemas, Route } from './route';
import { scheduleSchemas, schedules } from './schedules';
import { threadSchemas, threads } from './threads';
import { webhookTriggerSchemas, webhookTriggers } from './webhook-triggers';
import { webhookSchemas, webhooks } from './webhooks';

/** Every route of the API, by its operation id. */
export const apiRoutes = { ...agents, ...schedules, ...threads, ...webhookTriggers, ...webhooks } satisfies Record<
  string,
  Route
>;

/** The named schemas of every resource. */
export const apiSchemas: readonly ApiSchemas[] = [
  agentSchemas,
  scheduleSchemas,
  threadSchemas,
  webhookTriggerSchemas,
  webhookSchemas,
];
