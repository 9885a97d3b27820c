/** The URL with this user's credentials. The URL of a server that was not started here is returned unchanged. */
export function urlFor(user: string, server: { dataDir: string; server: string; url: string }): string;

/** The id of an executor of a data directory: `tool-executor`, `tool-executor-2`, … */
export function executorId(dataDir: string, instance: string): string;

/** The user who may do everything on a server that is started here. */
export const owner: string;

/** Its password. */
export function ownerPassword(dataDir: string, server: 'postgres' | 'redis' | 'nats'): string;
