/** The scorecard's page with a first line that says so if it is out of date: measured so many commits ago, or at an unknown one. */
export function withAge(page: string, commits: number | undefined): string;
