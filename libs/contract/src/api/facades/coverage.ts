import { z } from 'zod';

/** Why something of another system's API is not served, and which values of it ask for nothing. */
export interface Refusal {
  readonly why: string;
  /** Beside null, an empty text and an empty list. */
  readonly harmless?: readonly unknown[];
}

/** What one request of a client may say. */
export interface RequestCoverage {
  /** What each served field does. */
  readonly served: Readonly<Record<string, string>>;
  readonly refused: Readonly<Record<string, Refusal>>;
}

/** What a façade serves of its protocol, and what it refuses by name. The refusals and the tables of the documents are made of it. */
export interface FacadeCoverage {
  /** The address of the façade. */
  readonly path: `/${string}`;
  /** `METHOD /path` below the address of the façade, with what it does. */
  readonly routes: Readonly<Record<string, string>>;
  /** Routes of the protocol that are not served, with the reason. `/*` at the end stands for all below. */
  readonly refusedRoutes: Readonly<Record<string, string>>;
  /** By a name for the table. */
  readonly requests: Readonly<Record<string, RequestCoverage>>;
}

/** Schemas of fields that a request may have only with a value that asks for nothing. */
export function refuseFields<Name extends string>(
  refused: Readonly<Record<Name, Refusal>>,
): Record<Name, z.ZodOptional<z.ZodUnknown>> {
  const entries = Object.entries<Refusal>(refused).map(([name, refusal]) => [name, refuseField(refusal)]);
  return Object.fromEntries(entries) as Record<Name, z.ZodOptional<z.ZodUnknown>>; // by the same names
}

const refuseField = (refusal: Refusal) =>
  z
    .unknown()
    .refine((value) => !asksFor(value, refusal), { message: `is not served: ${refusal.why}` })
    .optional();

/** Whether the value of a refused field asks for something. */
export const asksFor = (value: unknown, { harmless = [] }: Refusal): boolean =>
  !asksNothing(value) && !harmless.some((one) => JSON.stringify(one) === JSON.stringify(value));

const asksNothing = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Why the route is not served. Undefined for a route that the protocol does not have, or that is served. */
export function findRefusedRoute({ refusedRoutes }: FacadeCoverage, method: string, path: string): string | undefined {
  const found = Object.entries(refusedRoutes).find(([route]) => {
    const [wanted, pattern = ''] = route.split(' ');
    const inner = pattern.replaceAll(/\{\w+\}/g, '[^/]+').replace(/\/\*$/, '(/.*)?');
    return (wanted === '*' || wanted === method) && new RegExp(`^${inner}$`).test(path);
  });
  return found?.[1];
}
