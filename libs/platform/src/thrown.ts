/** What was thrown, in words: anything can be thrown. */
export const toMessage = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

export const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
