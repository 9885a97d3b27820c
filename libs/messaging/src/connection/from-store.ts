/** As the library and Nest hand headers on; a message may have none. */
export type MessageHeaders = { has(name: string): boolean } | undefined;

/**
 * True of what JetStream sent as an answer to a look into a stream. Who may look may name any subject for the answer, also
 * one on which it may not publish, and the server does not mind. So where something else than such an answer is expected,
 * this is an attempt of one service to speak as another.
 */
export const isFromStore = (headers: MessageHeaders): boolean => headers?.has('Nats-Stream') ?? false;
