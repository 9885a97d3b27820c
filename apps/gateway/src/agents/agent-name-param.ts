import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { type AccountId, agentDefinition } from '@rondo/contract';
import type { Request } from 'express';
import { z } from 'zod';
import { callerOf } from '../auth/api-key.guard';
import { parseInput } from '../http/parse-input';
import { describesParam } from '../http/path-params';

export interface AgentName {
  readonly accountId: AccountId;
  readonly name: string;
}

const nameInPath = z.object({ name: agentDefinition.shape.name });

/** The name in the path, with the caller's account. */
export const AgentNameParam = createParamDecorator(
  (_: unknown, context: ExecutionContext): AgentName => {
    const { params } = context.switchToHttp().getRequest<Request>();
    const { name } = parseInput(nameInPath, { name: params['name'] });
    return { accountId: callerOf(context).accountId, name };
  },
  [describesParam('name')],
);
