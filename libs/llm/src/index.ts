export { type Models, type ModelsConfig, createModels } from './models';
export { readsDocuments } from './providers/conversation-rules';
export type { RetryPolicy } from './retrying-model';
export type { Timeouts } from './silence-timer';
export { TiktokenCounter } from './tokens/tiktoken-counter';
