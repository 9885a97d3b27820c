export * from './sandbox';
export * from './sandbox-error';
export { sandboxSettings, type SandboxSettings } from './sandbox-settings';
export { createSandboxProvider } from './create-sandbox-provider';
