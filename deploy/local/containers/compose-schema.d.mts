/** The JSON schema (2019-09) of the Compose specification, kept below `directory`. */
export function composeSchema(directory: string): Promise<Record<string, unknown>>;
