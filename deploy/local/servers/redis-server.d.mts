/** The program, from the PATH or from the distribution's package below the data directory, and the environment that it needs. */
export function findRedisServer(dataDir: string): Promise<{ readonly file: string; readonly env: NodeJS.ProcessEnv }>;
