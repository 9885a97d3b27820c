import { z } from 'zod';
import { endUser } from '../end-user';
import {
  accountId,
  agentId,
  apiKeyId,
  approvalId,
  callId,
  clientTokenId,
  evaluationId,
  fileId,
  mcpConnectionId,
  mcpToolId,
  memoryStoreId,
  projectId,
  runId,
  sandboxId,
  scheduleId,
  secretId,
  sessionId,
  skillId,
  threadId,
  webhookDeliveryId,
  webhookEndpointId,
  webhookTriggerId,
} from '../ids';
import { sha256 } from '../image';
import { exampleHash, exampleIds as ids } from './example-ids';
import type { ProblemCode } from './problem-codes';

export interface PathParam {
  readonly schema: z.ZodType;
  /** The name under which a handler gets it. */
  readonly property: string;
  readonly example: string;
  /** How a value that the schema does not accept is answered: like an unknown one. Absent: as an invalid field, with 422. */
  readonly unknown?: { readonly noun: string; readonly code: ProblemCode };
}

const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number);

/** The parameters of paths, by the names that they have in every path. A route can give a name another meaning. */
export const pathParams = {
  account_id: {
    schema: accountId,
    property: 'namedId', // `accountId` is the account of the caller
    example: ids.account,
    unknown: { noun: 'account', code: 'account_not_found' },
  },
  agent_id: {
    schema: agentId,
    property: 'agentId',
    example: ids.agent,
    unknown: { noun: 'agent', code: 'agent_not_found' },
  },
  approval_id: {
    schema: approvalId,
    property: 'approvalId',
    example: ids.approval,
    unknown: { noun: 'approval', code: 'approval_not_found' },
  },
  client_token_id: {
    schema: clientTokenId,
    property: 'clientTokenId',
    example: ids.clientToken,
    unknown: { noun: 'client token', code: 'client_token_not_found' },
  },
  delivery_id: {
    schema: webhookDeliveryId,
    property: 'deliveryId',
    example: ids.delivery,
    unknown: { noun: 'webhook delivery', code: 'webhook_delivery_not_found' },
  },
  evaluation_id: {
    schema: evaluationId,
    property: 'evaluationId',
    example: ids.evaluation,
    unknown: { noun: 'evaluation', code: 'evaluation_not_found' },
  },
  endpoint_id: {
    schema: webhookEndpointId,
    property: 'endpointId',
    example: ids.endpoint,
    unknown: { noun: 'webhook endpoint', code: 'webhook_endpoint_not_found' },
  },
  file_id: {
    schema: fileId,
    property: 'fileId',
    example: ids.file,
    unknown: { noun: 'file', code: 'file_not_found' },
  },
  key_id: {
    schema: apiKeyId,
    property: 'revokedId', // `keyId` is the key of the caller
    example: ids.key,
    unknown: { noun: 'API key', code: 'api_key_not_found' },
  },
  mcp_connection_id: {
    schema: mcpConnectionId,
    property: 'mcpConnectionId',
    example: ids.mcpConnection,
    unknown: { noun: 'MCP connection', code: 'mcp_connection_not_found' },
  },
  mcp_tool_id: {
    schema: mcpToolId,
    property: 'mcpToolId',
    example: ids.mcpTool,
    unknown: { noun: 'MCP tool', code: 'mcp_tool_not_found' },
  },
  memory_store_id: {
    schema: memoryStoreId,
    property: 'memoryStoreId',
    example: ids.memoryStore,
    unknown: { noun: 'memory store', code: 'memory_store_not_found' },
  },
  project_id: {
    schema: projectId,
    property: 'projectId',
    example: ids.project,
    unknown: { noun: 'project', code: 'project_not_found' },
  },
  run_id: { schema: runId, property: 'runId', example: ids.run, unknown: { noun: 'run', code: 'run_not_found' } },
  sandbox_id: {
    schema: sandboxId,
    property: 'sandboxId',
    example: ids.sandbox,
    unknown: { noun: 'sandbox', code: 'sandbox_not_found' },
  },
  schedule_id: {
    schema: scheduleId,
    property: 'scheduleId',
    example: ids.schedule,
    unknown: { noun: 'schedule', code: 'schedule_not_found' },
  },
  secret_id: {
    schema: secretId,
    property: 'secretId',
    example: ids.secret,
    unknown: { noun: 'secret', code: 'secret_not_found' },
  },
  session_id: {
    schema: sessionId,
    property: 'namedSessionId', // `sessionId` is the session of the caller
    example: ids.session,
    unknown: { noun: 'session', code: 'session_not_found' },
  },
  sha256: {
    schema: sha256,
    property: 'sha256',
    example: exampleHash,
    unknown: { noun: 'blob', code: 'blob_not_found' },
  },
  skill_id: {
    schema: skillId,
    property: 'skillId',
    example: ids.skill,
    unknown: { noun: 'skill', code: 'skill_not_found' },
  },
  thread_id: {
    schema: threadId,
    property: 'threadId',
    example: ids.thread,
    unknown: { noun: 'thread', code: 'thread_not_found' },
  },
  tool_call_id: {
    schema: callId,
    property: 'callId',
    example: ids.call,
    unknown: { noun: 'tool call', code: 'tool_call_not_found' },
  },
  trigger_id: {
    schema: webhookTriggerId,
    property: 'triggerId',
    example: ids.trigger,
    unknown: { noun: 'trigger', code: 'trigger_not_found' },
  },
  user: { schema: endUser, property: 'user', example: 'user-4711' },
  version: {
    schema: versionNumber,
    property: 'version',
    example: '2',
    unknown: { noun: 'version', code: 'agent_version_not_found' },
  },
} as const satisfies Record<string, PathParam>;

export type PathParams = typeof pathParams;

/** The parameters of a path in their order, for example `thread_id` and `name`. */
export const readParamNames = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** What each parameter of a path means. Throws for one that is described nowhere. */
export function readParams(
  path: string,
  own: Readonly<Record<string, PathParam>> = {},
): readonly (readonly [name: string, param: PathParam])[] {
  const known: Readonly<Record<string, PathParam>> = { ...pathParams, ...own };
  return readParamNames(path).map((name) => {
    const param = known[name];
    if (!param) throw new Error(`The parameter ${name} of ${path} is described nowhere.`);
    return [name, param];
  });
}
