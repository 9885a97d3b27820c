import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes spans over OTLP/HTTP and forgets them, in a process of its own, so that its CPU time is not that of Rondo. */
const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}'));
});

process.on('disconnect', () => process.exit());
server.keepAliveTimeout = 120_000;
// A server that listens on TCP has an address of this form.
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
