import { downTo120 } from './down-to-1.20.mjs';
import { inPlaceOfKeda } from './in-place-of-keda.mjs';

/**
 * The objects of the chart as the cluster of `npm run cluster` takes them.
 *
 * @typedef {{ apiVersion: string, kind: string, metadata: { name: string }, [field: string]: unknown }} KubernetesObject
 *
 * @param {readonly KubernetesObject[]} objects
 * @returns {KubernetesObject[]}
 */
export function translate(objects) {
  return objects.flatMap(inPlaceOfKeda).map(downTo120).map(forOlderNats);
}

/** Debian's NATS refuses a setting that it does not know. */
function forOlderNats(object) {
  const text = object.kind === 'ConfigMap' && object.data['rondo.conf'];
  if (!text) return object;
  return { ...object, data: { ...object.data, 'rondo.conf': text.replace(/^ *sync_interval:.*\n/m, '') } };
}
