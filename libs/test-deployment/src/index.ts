export { HttpMcpServer, RefundServer, LoopbackServer } from './http-mcp-server';
export { logFlaws } from './log-flaws';
export { type Delta, type Fact, RondoClient, type RunView, isDelta } from './rondo-client';
export { type DeploymentRequest, type ModelRequest, RunningRondo, type StartedServers } from './running-rondo';
export { call, command, scriptInput, smallContext } from './scripted-input';
