import { existsSync } from 'node:fs';
import { run } from '../run-program.mjs';
import { addresses } from './addresses.mjs';

const { namespace, node, machine, all } = addresses;
const ofNode = 'rondo-node';
const ofMachine = 'rondo-machine';

/**
 * The program in the cluster's network. Not by `ip netns exec`, which mounts another /sys, in which kubelet finds no control
 * groups.
 */
export const inNetwork = (file, args) => ['nsenter', [`--net=/run/netns/${namespace}`, file, ...args]];

/** A network namespace for the node: its ports and rules of packets are not those of this machine, which reaches it by a route. */
export async function createNetwork() {
  const ip = (...args) => run('ip', args);
  const inside = (...args) => run('ip', ['-netns', namespace, ...args]);
  await ip('netns', 'add', namespace);
  await ip('link', 'add', ofMachine, 'type', 'veth', 'peer', 'name', ofNode, 'netns', namespace);
  await ip('address', 'add', `${machine}/24`, 'dev', ofMachine);
  await ip('link', 'set', ofMachine, 'up');
  await inside('link', 'set', 'lo', 'up');
  await inside('address', 'add', `${node}/24`, 'dev', ofNode);
  await inside('link', 'set', ofNode, 'up');
  await inside('route', 'add', 'default', 'via', machine);
  await ip('route', 'add', all, 'via', node);
  await run(...inNetwork('sysctl', ['-qw', 'net.ipv4.ip_forward=1']));
}

/** With the namespace its devices end, and with these the routes. */
export async function removeNetwork() {
  if (existsSync(`/run/netns/${namespace}`)) await run('ip', ['netns', 'delete', namespace]);
}
