export * from './store-house';
export * from './test-database';
