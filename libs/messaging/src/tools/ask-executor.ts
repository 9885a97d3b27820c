import type { Msg } from 'nats';
import type { NatsLink } from '../nats/nats-link';

const waitMs = 2_000;

/**
 * Asks an executor something. It learns the inbox, so that is used once: over the one that NATS answers to, it could answer in
 * NATS's place. Rejects where nobody listens, or none that answers in time.
 */
export function askExecutor(nats: NatsLink, subject: string, request: object): Promise<Msg> {
  const options = { timeout: waitMs, noMux: true, reply: nats.newInbox() };
  return nats.connection.request(subject, JSON.stringify(request), options);
}
