export * from './counting-ids-and-clock';
export * from './even-token-counter';
export * from './in-memory-run-store';
export * from './ledgered-tools';
export * from './planned-call';
export * from './run-harness';
export * from './run-store.contract';
export * from './scripted-model';
export { contextOf } from '../context/context-of';
