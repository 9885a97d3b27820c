import type { Duplex } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { WebSocketServer } from 'ws';
import type { TestMachine } from './machine';

const exitControl = 'X-Daytona-Pty-Exit-Control';
const sockets = new WebSocketServer({
  noServer: true,
  handleProtocols: (offered) => (offered.has(exitControl) ? exitControl : false),
});

/** A terminal of a machine behind a web socket, as Daytona's daemon has them: it outlives the connection until it is killed. */
export function serveTerminal(
  machine: TestMachine,
  { id, request, connection }: { id: string; request: IncomingMessage; connection: Duplex },
): void {
  sockets.handleUpgrade(request, connection, Buffer.alloc(0), (socket) => {
    const say = (status: object) => socket.send(JSON.stringify({ type: 'control', ...status }));
    const terminal = machine.openTerminal(id, {
      output: (bytes) => socket.send(bytes),
      ended: (exitCode) => {
        say({ status: 'exited', exitCode });
        socket.close(1000);
      },
    });
    socket.on('message', (bytes: Buffer) => terminal.write(bytes));
    say({ status: 'connected' });
  });
}
