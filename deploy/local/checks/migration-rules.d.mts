/** Why services of the version before could not go on working beside a migration; none where they can. */
export function listFlaws(migration: { name: string; script: string }): string[];
