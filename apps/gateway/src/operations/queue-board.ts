import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { adminPassword, bearerKey } from '../auth/credentials';
import type { Installation } from '../auth/installation';
import type { KeyCheck } from '../auth/key-check';
import { Refusal } from '../problems/refusals';

export const queueBoardPath = '/admin/queues';

/** Bull Board, to look at and not to touch: jobs carry ids only, and Postgres decides what they mean (I1, I12). */
export function queueBoard(queues: readonly Queue[], door: { keyCheck: KeyCheck; installation: Installation }): Router {
  const serverAdapter = new ExpressAdapter().setBasePath(queueBoardPath);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Rondo' } },
  });

  const router = Router();
  router.use((request: Request, _: Response, next: NextFunction) => void admit(request, door).then(() => next(), next));
  router.use(serverAdapter.getRouter());
  return router;
}

/** A browser asks for user and password where it may offer them, so both challenges are sent. */
const challenge = { 'WWW-Authenticate': 'Basic realm="rondo", Bearer realm="rondo"' };

async function admit(request: Request, { keyCheck, installation }: Parameters<typeof queueBoard>[1]): Promise<void> {
  const { authorization } = request.headers;
  const key = bearerKey(authorization) ?? adminPassword(authorization);
  const caller = key === undefined ? undefined : await keyCheck.callerOf(key, request);
  if (!caller) throw new Refusal('unauthorized', 'Sign in as user admin with an admin key.', challenge);
  installation.requireOperator(caller);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new Refusal('method_not_allowed', 'The queues can only be looked at.', { Allow: 'GET, HEAD' });
  }
}
