export type DatabaseService = 'gateway' | 'agent-worker' | 'summarizer';
export const databaseServices: readonly DatabaseService[];
export function toRole(service: DatabaseService | 'scaler', database: string): string;
/** Gives each service whose password is given a role with the rights of prisma/grants.json. May be said again at any time. */
export function grantRoles(request: {
  url: string;
  passwords: Partial<Record<DatabaseService, string>>;
}): Promise<void>;
/** Creates the role with which an autoscaler reads the view runs_to_serve, and nothing else. */
export function grantScaler(request: { url: string; password: string }): Promise<void>;
