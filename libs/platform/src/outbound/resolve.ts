import { lookup } from 'node:dns/promises';

/** The addresses of a name. They are only a claim until they have been checked. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Asks the host's resolver, /etc/hosts included. */
export const resolveWithSystem: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: false })).map(({ address }) => address);
