export * from './store-fixture';
export * from './test-database';
export { PostgresPair } from './postgres-pair';
