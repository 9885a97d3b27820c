export { NatsCluster } from './nats-cluster';
export { RedisServers } from './redis-servers';
export * from './severable-proxy';
