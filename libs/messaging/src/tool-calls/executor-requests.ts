import type { Msg } from 'nats';
import type { z } from 'zod';
import type { NatsLink } from '../connection/nats-link';
import { received } from '../connection/received';

const waitMs = 2_000;

/**
 * Asks an executor something. It learns the inbox, so that is used once: over the one that NATS answers to, it could answer in
 * NATS's place. Undefined where no executor answers in time, or not as agreed; asking again must be safe.
 */
export async function askExecutor<Answer extends z.ZodType>(
  nats: NatsLink,
  subject: string,
  { request, answer }: { request: object; answer: Answer },
): Promise<z.infer<Answer> | undefined> {
  if (!nats.connected) return undefined;
  try {
    const options = { timeout: waitMs, noMux: true, reply: nats.newInbox() };
    return received(answer, await nats.connection.request(subject, JSON.stringify(request), options), nats.log);
  } catch {
    return undefined; // No executor listens there, or it did not answer in time: the caller decides whether to ask again.
  }
}

/** The executor's end: answers each request with what `work` makes of it. Returns what ends the listening. */
export function answerRequests<Request extends z.ZodType>(
  nats: NatsLink,
  subject: string,
  { request: schema, work }: { request: Request; work: (request: z.infer<Request>) => Promise<object> },
): () => void {
  const answer = async (message: Msg): Promise<void> => {
    const request = received(schema, message, nats.log);
    if (request) message.respond(JSON.stringify(await work(request)));
  };
  const subscription = nats.connection.subscribe(subject, {
    callback: (error, message) => {
      if (error) nats.log.error({ subject, error }, 'sandbox subscription ended');
      else void answer(message);
    },
  });
  return () => subscription.unsubscribe();
}
