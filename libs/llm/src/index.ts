export { type Declaration, declareProvider } from './examination/declared-provider';
export { type Examination, examineModel, tryModel } from './examination/examine-model';
export type { ModelFinding } from './examination/examiner';
export { type Models, type ModelsConfig, createModels } from './models';
export { readsDocuments } from './providers/conversation-rules';
export { findMaxTools } from './providers/find-profile';
export type { RetryPolicy } from './retrying-model';
export type { Timeouts } from './silence-timer';
export { TiktokenCounter } from './tokens/tiktoken-counter';
