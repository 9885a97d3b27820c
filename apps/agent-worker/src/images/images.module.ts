import { Module } from '@nestjs/common';
import { Blobs, type Database, FetchedImages } from '@rondo/persistence';
import { publicInternet, resolveByDns, resolveWithSystem } from '@rondo/platform';
import { config } from '../config';
import { DATABASE } from '../connections.module';
import { type ImageRules, fetchImage } from './fetch-image';
import { ImageCache } from './image-cache';
import { ImagesFromUrls } from './images-from-urls';

const imageShelfBytes = 64 * 1024 * 1024;
const fetchTimeoutMs = 10_000;
const pauseMs = 500;

const rules: ImageRules = {
  resolve: resolveByDns(),
  isAllowed: publicInternet({ deniedNetworks: config.IMAGE_DENIED_NETWORKS ?? [] }),
  internalHosts: config.IMAGE_INTERNAL_HOSTS ?? [],
  resolveInternal: resolveWithSystem(),
  timeoutMs: fetchTimeoutMs,
};

/** Where the images of runs come from. Plain classes are built by hand here, so they stay plain. */
@Module({
  providers: [
    {
      provide: Blobs,
      inject: [DATABASE],
      useFactory: (database: Database) => new Blobs(database),
    },
    {
      provide: ImageCache,
      inject: [Blobs],
      useFactory: (blobs: Blobs) => new ImageCache((runId, hashes) => blobs.read(runId, hashes), imageShelfBytes),
    },
    {
      provide: ImagesFromUrls,
      inject: [DATABASE],
      useFactory: (database: Database) =>
        new ImagesFromUrls({
          recorded: new FetchedImages(database),
          fetch: (url, signal) => fetchImage(url, rules, signal),
          pauseMs,
        }),
    },
  ],
  exports: [Blobs, ImageCache, ImagesFromUrls],
})
export class ImagesModule {}
