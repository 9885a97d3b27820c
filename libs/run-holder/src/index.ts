export { AbandonedError, ActiveRun } from './active-run';
export { ActiveRuns } from './active-runs';
export { Heartbeat } from './heartbeat';
export { ModelMetrics } from './model-metrics';
export { OutboxRelay } from './outbox-relay';
export { PeriodicTasks, type TaskSchedule } from './periodic-tasks';
export { QueueProbe } from './queue-probe';
export { type Catalog, RunToolSets } from './run-tool-sets';
