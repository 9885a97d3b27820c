import type { SandboxProvider } from './sandbox';
import type { SandboxSettings } from './sandbox-settings';

/** pino's shape; sandboxes log decisions only, never commands or output. */
export interface SandboxLog {
  info(fields: object, text: string): void;
  warn(fields: object, text: string): void;
}

export declare function createSandboxProvider(settings: SandboxSettings, log: SandboxLog): SandboxProvider;
