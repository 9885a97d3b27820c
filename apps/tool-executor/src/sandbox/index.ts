export * from './sandbox';
export { SandboxError, type SandboxErrorCode } from './sandbox-error';
export { sandboxSettings, type SandboxSettings } from './sandbox-settings';
export { createSandboxProvider } from './create-sandbox-provider';
export { decideDestination, EgressRefusal, type EgressRules } from './egress/destination';
export { internalHost } from './egress/internal-host';
export type { SandboxLog } from './sandbox-log';
