import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { accountId, apiKeyId, callId, runId, sandboxId, sha256, threadId } from '@rondo/contract';
import type { z } from 'zod';
import { callerOf } from '../auth/api-key.guard';
import { ApiError } from '../problems/api-error';
import type { ProblemCode } from '../problems/problems';

interface Resource {
  readonly parameter: string;
  readonly noun: string;
  readonly code: ProblemCode;
}

/** The id in the path, with the caller's account. A malformed id is answered like an unknown one, with 404. */
const idParam = (property: string, id: z.ZodType<string>, { parameter, noun, code }: Resource) =>
  createParamDecorator(
    (_: unknown, context: ExecutionContext) => {
      const caller = callerOf(context);
      const text = context.switchToHttp().getRequest<{ params: Record<string, string> }>().params[parameter] ?? '';
      const parsed = id.safeParse(text);
      if (!parsed.success) throw new ApiError(code, `There is no ${noun} ${text}.`);
      return { accountId: caller.accountId, keyId: caller.keyId, [property]: parsed.data };
    },
    [describesParam(parameter)],
  );

const describesParam =
  (name: string): ParameterDecorator =>
  (target, key) => {
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key !== undefined && descriptor) ApiParam({ name, schema: { type: 'string' } })(target, key, descriptor);
  };

export const RunParam = idParam('runId', runId, { parameter: 'run_id', noun: 'run', code: 'run_not_found' });
export const ThreadParam = idParam('threadId', threadId, {
  parameter: 'thread_id',
  noun: 'thread',
  code: 'thread_not_found',
});
export const ToolCallParam = idParam('callId', callId, {
  parameter: 'tool_call_id',
  noun: 'tool call',
  code: 'tool_call_not_found',
});
export const BlobParam = idParam('sha256', sha256, { parameter: 'sha256', noun: 'blob', code: 'blob_not_found' });
export const SandboxParam = idParam('sandboxId', sandboxId, {
  parameter: 'sandbox_id',
  noun: 'sandbox',
  code: 'sandbox_not_found',
});
export const ApiKeyParam = idParam('revokedId', apiKeyId, {
  parameter: 'key_id',
  noun: 'API key',
  code: 'api_key_not_found',
});
export const AccountParam = idParam('removedId', accountId, {
  parameter: 'account_id',
  noun: 'account',
  code: 'account_not_found',
});
