export const help: string;

/** What the command line asks for. Throws an error that names the word that it does not know. */
export function parseArguments(
  words: readonly string[],
  proofs: readonly string[],
): { action: 'prove' | 'help' | 'down' | 'clean'; only: readonly string[]; keepImages: boolean };
