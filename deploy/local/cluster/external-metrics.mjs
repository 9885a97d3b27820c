import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { run } from '../run-program.mjs';
import { addresses } from './addresses.mjs';

const group = 'external.metrics.k8s.io';
const version = 'v1beta1';

/**
 * The API of external metrics with one metric, which is read when the autoscaler asks for it. It runs on this machine, and the
 * cluster reaches it as a Service without pods.
 */
export async function serveExternalMetric({ directory, name, read }) {
  const [key, cert] = await certificate(directory);
  const server = createServer({ key, cert }, (request, response) => {
    void answer(request.url, { name, read }).then(
      (body) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body)),
      (error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise((resolve) => server.listen(0, addresses.machine, resolve));
  return {
    objects: objectsFor(server.address().port),
    stop: () => new Promise((resolve) => (server.close(resolve), server.closeAllConnections())),
  };
}

async function answer(url, { name, read }) {
  if (!url.includes(`/${name}`))
    return {
      ...{ kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/${version}` },
      resources: [{ name, singularName: '', namespaced: true, kind: 'ExternalMetricValueList', verbs: ['get'] }],
    };
  const item = { metricName: name, metricLabels: {}, timestamp: new Date().toISOString(), value: String(await read()) };
  return { kind: 'ExternalMetricValueList', apiVersion: `${group}/${version}`, metadata: {}, items: [item] };
}

function objectsFor(port) {
  const metadata = { name: 'external-metrics', namespace: 'rondo' };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { ports: [{ port: 443, targetPort: port, protocol: 'TCP' }] },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Endpoints', metadata },
      subsets: [{ addresses: [{ ip: addresses.machine }], ports: [{ port, protocol: 'TCP' }] }],
    },
    {
      ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name: `${version}.${group}` } },
      spec: {
        ...{ group, version, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true },
        service: { name: metadata.name, namespace: metadata.namespace },
      },
    },
  ];
}

async function certificate(directory) {
  const [key, cert] = ['key', 'crt'].map((ending) => join(directory, `state/metrics.${ending}`));
  const subject = ['-subj', '/CN=external-metrics', '-days', '1', '-nodes'];
  await run('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, ...subject]);
  return [readFileSync(key), readFileSync(cert)];
}
