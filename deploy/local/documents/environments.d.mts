export function environmentsPage(repoRoot: string): string;
