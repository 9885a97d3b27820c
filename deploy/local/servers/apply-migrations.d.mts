/** Creates the database if needed, applies what it lacks and returns the names of what it applied. */
export function migrate(request: { url: string; directory: string }): Promise<string[]>;
