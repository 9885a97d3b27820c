import type { Socket } from 'socket.io-client';

/** The arguments of the next event of this name. */
export const nextEvent = (socket: Socket, name: string): Promise<unknown[]> =>
  new Promise((resolve) => {
    socket.once(name, (...given: unknown[]) => {
      resolve(given);
    });
  });
