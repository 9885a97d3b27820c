import type { Protocol } from '../protocol';
import { Refusal } from '../refusal';
import type { Fault } from '../script/turn';
import type { ClientConnection } from './client-connection';

/** A fault in place of a response. */
export async function strike(fault: Fault, client: ClientConnection): Promise<never> {
  switch (fault.kind) {
    case 'hang':
      return client.hang();
    case 'reset':
      return client.reset();
    case 'rate_limit':
    case 'server_error':
    case 'overloaded':
      throw refusalFor(fault.kind, fault);
  }
}

/** A fault in a stream that has begun: the status has been sent, so an error can only be sent as an event. */
export async function strikeMidStream(fault: Fault, protocol: Protocol, client: ClientConnection): Promise<void> {
  switch (fault.kind) {
    case 'hang':
      return client.hang();
    case 'reset':
      return client.reset();
    case 'rate_limit':
    case 'server_error':
    case 'overloaded':
      client.end(protocol.errorFrame(refusalFor(fault.kind, fault)));
  }
}

const sentences = {
  rate_limit: 'Rate limit reached. Please try again later.',
  server_error: 'The server had an error while processing your request.',
  overloaded: 'The model is overloaded. Please try again later.',
};

const refusalFor = (kind: keyof typeof sentences, { retry_after_s }: Fault): Refusal =>
  new Refusal(kind, sentences[kind], { retryAfterS: retry_after_s });
