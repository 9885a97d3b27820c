export function postgresPrograms(request: {
  path: string | undefined;
  packagesOf: string;
}): Promise<{ directory: string; env: Record<string, string> }>;
