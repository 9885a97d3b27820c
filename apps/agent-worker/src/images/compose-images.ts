import { type Blobs, type Database, FetchedImages } from '@rondo/persistence';
import { OutboundProxy, publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import type { Config } from '../config';
import { type ImageRules, fetchImage } from './fetch-image';
import { ImageCache } from './image-cache';
import { ImagesFromUrls } from './images-from-urls';

const imageCacheBytes = 64 * 1024 * 1024;
const fetchTimeoutMs = 10_000;
const pauseMs = 500;

/** Where the images of messages come from: stored blobs, and URLs that are fetched under the operator's rules. */
export function composeImages({ database, blobs, config }: { database: Database; blobs: Blobs; config: Config }) {
  const rules: ImageRules = {
    resolve: resolveByDns(),
    isAllowed: publicInternet({ deniedNetworks: config.IMAGE_DENIED_NETWORKS ?? [] }),
    internalHosts: config.IMAGE_INTERNAL_HOSTS ?? [],
    resolveInternal: resolveWithSystem(),
    proxy: OutboundProxy.from(config),
    timeoutMs: fetchTimeoutMs,
  };
  return {
    imageCache: new ImageCache((runId, hashes) => blobs.read(runId, hashes), imageCacheBytes),
    imagesFromUrls: new ImagesFromUrls({
      recorded: new FetchedImages(database),
      fetch: (url, signal) => fetchImage(url, rules, signal),
      pauseMs,
    }),
  };
}
