'use strict';
const net = require('node:net');

/** The only way out: a port on the sandbox's loopback that leads to the host's filtering proxy. */
function startRelay({ port, socketPath }) {
  const server = net.createServer((inside) => {
    const outside = net.connect(socketPath);
    const close = () => {
      inside.destroy();
      outside.destroy();
    };
    inside.on('error', close).on('close', close);
    outside.on('error', close).on('close', close);
    inside.pipe(outside).pipe(inside);
  });
  return new Promise((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
}

module.exports = { startRelay };
