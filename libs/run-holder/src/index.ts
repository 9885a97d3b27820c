export * from './active-run';
export * from './active-runs';
export * from './heartbeat';
export * from './outbox-relay';
export * from './periodic-tasks';
export * from './queue-probe';
export * from './run-tool-sets';
