export { HttpMcpServer, RefundServer } from './http-mcp-server';
export { LoopbackServer } from './loopback-server';
export { logFlaws } from './log-flaws';
export { type Delta, type Fact, RondoClient, type RunView, isDelta } from './rondo-client';
export { type DeploymentRequest, type ModelRequest, RunningRondo, type StartedServers } from './running-rondo';
export { call, command, scripted, smallContext } from './scripted-input';
