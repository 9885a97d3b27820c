/** Migrates, and gives each service a role where the server was started here. Returns the names of the migrations it applied. */
export function prepareDatabase(request: { url: string; dataDir: string }): Promise<string[]>;
