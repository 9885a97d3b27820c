export * from './sandbox';
export { SandboxError, type SandboxErrorCode } from './sandbox-error';
export { sandboxSettings, type SandboxSettings } from './sandbox-settings';
export { createSandboxProvider } from './create-sandbox-provider';
export type { SandboxLog } from './sandbox-log';
