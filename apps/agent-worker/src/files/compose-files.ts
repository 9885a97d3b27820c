import type { RunFeed } from '@rondo/domain';
import type { NatsLink } from '@rondo/messaging';
import { type Database, FileDeliveries, type PostgresRunStore } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import type { SandboxPlacement } from '../activation/sandbox-placement';
import { RunFileDelivery } from './run-file-delivery';
import { WorkspaceUpload } from './workspace-upload';

interface Adapters {
  readonly database: Database;
  readonly nats: NatsLink;
  readonly store: PostgresRunStore;
  readonly feed: Pick<RunFeed, 'publish'>;
}

const pauseMs = 1_000;

export function composeFiles({ database, nats, store, feed }: Adapters, placement: SandboxPlacement): RunFileDelivery {
  const deliveries = new FileDeliveries(database);
  return new RunFileDelivery({
    deliveries,
    workspaces: new WorkspaceUpload({ nats, content: deliveries.content.bind(deliveries) }),
    placement: placement.ofRun.bind(placement),
    append: store.append.bind(store),
    publish: feed.publish.bind(feed),
    newId: newUlid,
    pauseMs,
  });
}
