import type { ZodObject } from 'zod';

/** The schemas of services, by name. */
type Environments = Readonly<Record<string, ZodObject>>;

export function withTables(document: string, environments: Environments): string;
export function toExample(environments: Environments): string;
