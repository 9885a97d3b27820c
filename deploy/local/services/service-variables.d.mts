import type { ServiceName } from './services.mjs';

/** `npm start`, Docker Compose and the Helm chart. */
export type WayOfStarting = 'npm start' | 'compose' | 'chart';

/** What Node itself reads, and what says how the network is. */
export const runtimeVariables: readonly string[];

/** Whether a way of starting decides a variable itself. */
export function isDecidedBy(way: WayOfStarting, name: string): boolean;

/** The variables that a way of starting passes on to each service, by service. */
export function passedVariables(way: WayOfStarting): Record<ServiceName, string[]>;

/** The content of deploy/service-variables.json, deploy/compose-variables.yml and deploy/helm/rondo/files/variables.json. */
export function declaredVariables(environments: Readonly<Record<string, { shape: object }>>): string;
export function composeVariables(): string;
export function chartVariables(): string;
