export function postgresPrograms(request: {
  path: string | undefined;
  packagesDirectory: string;
}): Promise<{ directory: string; env: Record<string, string> }>;
