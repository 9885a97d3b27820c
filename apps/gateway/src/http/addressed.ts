import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { accountId, apiKeyId, callId, runId, sha256, threadId } from '@rondo/contract';
import type { z } from 'zod';
import { callerOf } from '../auth/api-key.guard';
import type { ProblemCode } from '../problems/problems';
import { Refusal } from '../problems/refusals';

interface Addressable {
  readonly parameter: string;
  readonly thing: string;
  readonly code: ProblemCode;
}

/** The id in the path, with the account that asks. An id that cannot exist is answered like one that does not (R39). */
const addressed = (name: string, id: z.ZodType<string>, { parameter, thing, code }: Addressable) =>
  createParamDecorator(
    (_: unknown, context: ExecutionContext) => {
      const caller = callerOf(context);
      const text = context.switchToHttp().getRequest<{ params: Record<string, string> }>().params[parameter] ?? '';
      const parsed = id.safeParse(text);
      if (!parsed.success) throw new Refusal(code, `There is no ${thing} ${text}.`);
      return { accountId: caller.accountId, keyId: caller.keyId, [name]: parsed.data };
    },
    [documents(parameter)],
  );

const documents =
  (name: string): ParameterDecorator =>
  (target, key) => {
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key !== undefined && descriptor) ApiParam({ name, schema: { type: 'string' } })(target, key, descriptor);
  };

export const AddressedRun = addressed('runId', runId, { parameter: 'run_id', thing: 'run', code: 'run_not_found' });
export const AddressedThread = addressed('threadId', threadId, {
  parameter: 'thread_id',
  thing: 'thread',
  code: 'thread_not_found',
});
export const AddressedToolCall = addressed('callId', callId, {
  parameter: 'tool_call_id',
  thing: 'tool call',
  code: 'tool_call_not_found',
});
export const AddressedBlob = addressed('sha256', sha256, {
  parameter: 'sha256',
  thing: 'blob',
  code: 'blob_not_found',
});
export const AddressedKey = addressed('revokedId', apiKeyId, {
  parameter: 'key_id',
  thing: 'API key',
  code: 'api_key_not_found',
});
export const AddressedAccount = addressed('removedId', accountId, {
  parameter: 'account_id',
  thing: 'account',
  code: 'account_not_found',
});
