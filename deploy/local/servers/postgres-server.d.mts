/** The directory of `postgres` and `initdb`, on the PATH or from the distribution's package below the data directory, and the environment that they need. */
export function findPostgresServer(
  dataDir: string,
): Promise<{ readonly directory: string; readonly env: NodeJS.ProcessEnv }>;

/** As whom the server runs: it refuses to run as root. */
export function serverOwner(): { readonly uid?: number; readonly gid?: number };
