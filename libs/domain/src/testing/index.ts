export * from './counting-clerk';
export * from './even-token-counter';
export * from './images';
export * from './in-memory-run-store';
export * from './ledgered-tools';
export * from './run-house';
export * from './run-store.contract';
export * from './scripted-model';
