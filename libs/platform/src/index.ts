export * from './health/health.module';
export * from './health/readiness';
export * from './load-config';
export * from './logger';
export * from './metrics/metrics.module';
export * from './nest-logger';
export * from './run-service';
export * from './ulid';
