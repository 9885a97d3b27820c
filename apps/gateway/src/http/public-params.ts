import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { projectId, runId, sha256, threadId } from '@rondo/contract';
import type { z } from 'zod';
import { type Resource, describesParam, parsedParam, resources } from './path-params';

/** The id in the path of a route without a caller. */
const publicId = (id: z.ZodType<string>, resource: Resource) =>
  createParamDecorator(
    (_: unknown, context: ExecutionContext) => parsedParam(context, id, resource),
    [describesParam(resource.parameter)],
  );

export const PublicProjectParam = publicId(projectId, resources.project);
export const PublicThreadParam = publicId(threadId, resources.thread);
export const PublicRunParam = publicId(runId, resources.run);

/** An image as a thread shows it. */
export const PublicImageParam = createParamDecorator(
  (_: unknown, context: ExecutionContext) => ({
    threadId: parsedParam(context, threadId, resources.thread),
    sha256: parsedParam(context, sha256, resources.blob),
  }),
  [describesParam('thread_id'), describesParam('sha256')],
);
