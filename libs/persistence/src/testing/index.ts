export * from './store-fixture';
export * from './test-database';
