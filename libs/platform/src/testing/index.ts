export * from './authorization-server';
export * from './connect-proxy';
export * from './protected-resource';
