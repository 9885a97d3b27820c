import { type ChildProcess, spawn } from 'node:child_process';
import { AgentConnection } from '../agent/agent-connection';
import { AgentProcess, toPipe } from '../agent/agent-process';

/**
 * A connection to a Node program that acts as an agent. The program can call `send(message)` and `raw(bytes)`. With `kill`,
 * killing the agent calls it instead of sending SIGKILL at once.
 */
export function connectTo(program: string, kill?: (child: ChildProcess) => void): AgentConnection {
  const prelude = `
    const control = new (require('net').Socket)({ fd: 3 });
    const raw = (bytes) => control.write(bytes);
    const send = (message) => {
      const body = Buffer.from(JSON.stringify(message));
      const length = Buffer.alloc(4);
      length.writeUInt32BE(body.length);
      raw(Buffer.concat([length, body]));
    };`;
  const child = spawn(process.execPath, ['-e', prelude + program], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'] });
  const agent = new AgentProcess(child);
  const configuration = { workspace: '/', sessionDirectory: '/', environment: {} };
  return new AgentConnection({
    control: toPipe(child, 3),
    configuration,
    ended: agent.ended,
    kill: async () => {
      kill?.(child);
      if (kill) await agent.ended;
      return agent.kill();
    },
    outOfMemoryKills: () => 0,
  });
}
