import type { Client } from 'pg';

export function withClient<T>(connectionString: string, use: (client: Client) => Promise<T>): Promise<T>;
