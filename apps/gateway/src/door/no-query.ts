import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import { z } from 'zod';
import { parsed } from './parsed';

const nothing = z.strictObject({});

/** For a route whose query has no fields: whatever is in it is refused. */
export const NoQuery = createParamDecorator((_: unknown, context: ExecutionContext) =>
  parsed(nothing, context.switchToHttp().getRequest<Request>().query),
);
