import { type ProviderSettings, type RunFeed, toBudgets } from '@rondo/domain';
import { readsDocuments } from '@rondo/llm';
import type { NatsLink } from '@rondo/messaging';
import { type Database, FileDeliveries, type PostgresRunStore, RunDocuments } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import type { SandboxPlacement } from '../activation/sandbox-placement';
import { ImageCache } from '../images/image-cache';
import { DocumentsInMessages } from './documents-from-files';
import { RunFileDelivery } from './run-file-delivery';
import { WorkspaceUpload } from './workspace-upload';

interface Adapters {
  readonly database: Database;
  readonly nats: NatsLink;
  readonly store: PostgresRunStore;
  readonly feed: Pick<RunFeed, 'publish'>;
}

const pauseMs = 1_000;
const documentCacheBytes = 64 * 1024 * 1024;

/** How the PDFs of messages reach models that read them. */
export function composeDocuments(database: Database, providers: readonly ProviderSettings[]) {
  const documents = new RunDocuments(database);
  const cache = new ImageCache((runId, hashes) => documents.read(runId, hashes), documentCacheBytes);
  return {
    documentCache: cache,
    documentsInMessages: new DocumentsInMessages({
      documents,
      readerFor: (runId) => cache.of(runId),
      readsDocuments: readsDocuments(providers),
      resolveBudget: toBudgets({ providers }),
    }),
  };
}

export function composeFiles({ database, nats, store, feed }: Adapters, placement: SandboxPlacement): RunFileDelivery {
  const deliveries = new FileDeliveries(database);
  return new RunFileDelivery({
    deliveries,
    workspaces: new WorkspaceUpload({ nats, content: deliveries.content.bind(deliveries) }),
    placement: placement.ofRun.bind(placement),
    untilConnected: nats.untilConnected.bind(nats),
    append: store.append.bind(store),
    publish: feed.publish.bind(feed),
    newId: newUlid,
    pauseMs,
  });
}
