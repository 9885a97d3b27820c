import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { ExpressAdapter } from '@bull-board/express';
import type { Queue } from 'bullmq';
import { type NextFunction, type Request, type Response, Router } from 'express';
import type { Authenticator } from '../auth/authenticator';
import { adminPassword } from '../auth/credentials';
import type { DeploymentOperator } from '../auth/deployment-operator';
import { ApiError } from '../problems/api-error';

export const queueBoardPath = '/admin/queues';

interface BoardOptions {
  /** Of the gateway, where users see it: what a reverse proxy takes away. */
  readonly pathPrefix: string;
}

interface Access {
  readonly authenticator: Authenticator;
  readonly operator: DeploymentOperator;
}

/** Bull Board, read-only: jobs carry ids only, and Postgres decides what they mean (I1, I12). */
export function queueBoard(queues: readonly Queue[], access: Access, { pathPrefix }: BoardOptions): Router {
  const serverAdapter = new ExpressAdapter().setBasePath(`${pathPrefix}${queueBoardPath}`);
  createBullBoard({
    queues: queues.map((queue) => new BullMQAdapter(queue, { readOnlyMode: true })),
    serverAdapter,
    options: { uiConfig: { boardTitle: 'Rondo' } },
  });

  const router = Router();
  router.use(
    (request: Request, _: Response, next: NextFunction) => void authorize(request, access).then(() => next(), next),
  );
  router.use(withoutForeignFonts);
  router.use(serverAdapter.getRouter());
  return router;
}

/** The page of the board links fonts of Google, which its Content-Security-Policy refuses. It has others to fall back on. */
function withoutForeignFonts(_: Request, response: Response, next: NextFunction): void {
  const send = response.send.bind(response);
  response.send = (body: unknown) =>
    send(typeof body === 'string' ? body.replaceAll(/<link [^>]*href="https?:[^>]*>/g, '') : body);
  next();
}

/** A browser asks for user and password only if Basic is offered, so both challenges are sent. */
const challenge = { 'WWW-Authenticate': 'Basic realm="rondo", Bearer realm="rondo"' };

async function authorize(request: Request, { authenticator, operator }: Access): Promise<void> {
  const password = adminPassword(request.headers.authorization);
  const signedIn =
    password === undefined ? authenticator.callerOfRequest(request) : authenticator.findCaller(password, request);
  const caller = await signedIn;
  if (!caller) throw new ApiError('unauthorized', 'Sign in as user admin with an admin key.', challenge);
  operator.require(caller);
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new ApiError('method_not_allowed', 'The queue board is read-only.', { Allow: 'GET, HEAD' });
  }
}
