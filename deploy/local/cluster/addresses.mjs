/**
 * The addresses of the cluster, of the range that is set apart for trials (RFC 2544), so that they seldom are those of a network
 * around this machine.
 */
export const addresses = {
  namespace: 'rondo-cluster',
  /** The node, in a network namespace of its own. */
  node: '198.18.0.1',
  /** This machine, as the node and its pods see it. */
  machine: '198.18.0.2',
  all: '198.18.0.0/15',
  services: '198.18.16.0/20',
  pods: '198.19.0.0/16',
};

export const nodeName = 'node1';
export const clusterDomain = 'cluster.local';
