export * from './sandbox';
export { SandboxError, type SandboxErrorCode } from './sandbox-error';
export { sandboxSettings, type GivenSandboxSettings, type SandboxSettings } from './sandbox-settings';
export { createSandboxProvider } from './create-sandbox-provider';
export { EgressRefusal, type EgressRules } from './embedded/egress/destination';
export type { EgressGate } from './embedded/egress/egress-gate';
export type { SandboxLog } from './sandbox-log';
