import type { ChildProcess } from 'node:child_process';
import { Duplex } from 'node:stream';

/** Our end of a descriptor that a child was born with. Beyond stderr these are sockets, which go both ways. */
export function pipeOf(child: ChildProcess, descriptor: number): Duplex {
  const pipe = Array.from<unknown>(child.stdio)[descriptor];
  if (pipe instanceof Duplex) return pipe;
  throw new Error(`The child has no pipe ${descriptor}.`);
}
