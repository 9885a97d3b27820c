export * from './model-facts';
export { type Models, type ModelsConfig, createModels } from './models';
export type { ModelErrorCode } from './provider-error';
export * from './provider-settings';
export type { RetryPolicy } from './retrying-model';
export type { Timeouts } from './silence-timer';
