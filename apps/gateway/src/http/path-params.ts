import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import {
  agentId,
  callId,
  fileId,
  projectId,
  runId,
  sandboxId,
  scheduleId,
  sha256,
  threadId,
  webhookDeliveryId,
  webhookEndpointId,
  webhookTriggerId,
} from '@rondo/contract';
import { z } from 'zod';
import { callerOf } from '../auth/api-key.guard';
import { ApiError } from '../problems/api-error';
import type { ProblemCode } from '../problems/problems';

export interface Resource {
  readonly parameter: string;
  readonly noun: string;
  readonly code: ProblemCode;
}

/** The id in the path, with the caller's account. A malformed id is answered like an unknown one, with 404. */
const idParam = (property: string, id: z.ZodType<string>, resource: Resource) =>
  createParamDecorator(
    (_: unknown, context: ExecutionContext) => ({
      ...callerIds(context),
      [property]: parsedParam(context, id, resource),
    }),
    [describesParam(resource.parameter)],
  );

function callerIds(context: ExecutionContext) {
  const caller = callerOf(context);
  return { accountId: caller.accountId, keyId: caller.keyId, caller };
}

/** A part of the path. What the schema does not accept is answered like something unknown, with 404. */
export function parsedParam<T>(
  context: ExecutionContext,
  schema: z.ZodType<T>,
  { parameter, noun, code }: Resource,
): T {
  const text = context.switchToHttp().getRequest<{ params: Record<string, string> }>().params[parameter] ?? '';
  const parsed = schema.safeParse(text);
  if (!parsed.success) throw new ApiError(code, `There is no ${noun} ${text}.`);
  return parsed.data;
}

export const describesParam =
  (name: string): ParameterDecorator =>
  (target, key) => {
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key !== undefined && descriptor) ApiParam({ name, schema: { type: 'string' } })(target, key, descriptor);
  };

/** What can be read with a key and, where it is shared, without. */
export const resources = {
  project: { parameter: 'project_id', noun: 'project', code: 'project_not_found' },
  thread: { parameter: 'thread_id', noun: 'thread', code: 'thread_not_found' },
  run: { parameter: 'run_id', noun: 'run', code: 'run_not_found' },
  blob: { parameter: 'sha256', noun: 'blob', code: 'blob_not_found' },
} as const satisfies Record<string, Resource>;

export const ProjectParam = idParam('projectId', projectId, resources.project);
export const RunParam = idParam('runId', runId, resources.run);
export const ThreadParam = idParam('threadId', threadId, resources.thread);
const siteResource: Resource = { parameter: 'name', noun: 'site', code: 'site_not_found' };

export const SiteParam = createParamDecorator(
  (_: unknown, context: ExecutionContext) => ({
    ...callerIds(context),
    threadId: parsedParam(context, threadId, resources.thread),
    name: parsedParam(context, z.string().min(1).max(64), siteResource),
  }),
  [describesParam('thread_id'), describesParam('name')],
);
const agentResource: Resource = { parameter: 'agent_id', noun: 'agent', code: 'agent_not_found' };
const versionResource: Resource = { parameter: 'version', noun: 'version', code: 'agent_version_not_found' };
const versionNumber = z
  .string()
  .regex(/^[1-9]\d{0,8}$/)
  .transform(Number);

export const AgentParam = idParam('agentId', agentId, agentResource);
export const AgentVersionParam = createParamDecorator(
  (_: unknown, context: ExecutionContext) => ({
    ...callerIds(context),
    agentId: parsedParam(context, agentId, agentResource),
    version: parsedParam(context, versionNumber, versionResource),
  }),
  [describesParam('agent_id'), describesParam('version')],
);
export const ScheduleParam = idParam('scheduleId', scheduleId, {
  parameter: 'schedule_id',
  noun: 'schedule',
  code: 'schedule_not_found',
});
export const TriggerParam = idParam('triggerId', webhookTriggerId, {
  parameter: 'trigger_id',
  noun: 'trigger',
  code: 'trigger_not_found',
});
export const EndpointParam = idParam('endpointId', webhookEndpointId, {
  parameter: 'endpoint_id',
  noun: 'webhook endpoint',
  code: 'webhook_endpoint_not_found',
});
export const DeliveryParam = idParam('deliveryId', webhookDeliveryId, {
  parameter: 'delivery_id',
  noun: 'webhook delivery',
  code: 'webhook_delivery_not_found',
});
export const ToolCallParam = idParam('callId', callId, {
  parameter: 'tool_call_id',
  noun: 'tool call',
  code: 'tool_call_not_found',
});
export const BlobParam = idParam('sha256', sha256, resources.blob);
export const FileParam = idParam('fileId', fileId, { parameter: 'file_id', noun: 'file', code: 'file_not_found' });
export const SandboxParam = idParam('sandboxId', sandboxId, {
  parameter: 'sandbox_id',
  noun: 'sandbox',
  code: 'sandbox_not_found',
});
