import {
  type AccountId,
  type InlineImage,
  type KeptImage,
  type MessageId,
  type ThreadId,
  imageMediaType,
  messageId,
  sha256,
} from '@rondo/contract';
import { z } from 'zod';
import { createQuery } from '../../database/checked-query';
import type { Database } from '../../database/database';
import { toBlob, newBlob, newRef } from './blob-row';

/** An image that a message shows by its URL. */
export interface ImagePlace {
  readonly messageId: MessageId;
  /** Its index in the content of the message. */
  readonly block: number;
}

/** The recorded result, which never changes. */
export type FetchedImage =
  | { readonly how: 'kept'; readonly image: KeptImage }
  /** In words for the model. */
  | { readonly how: 'refused'; readonly problem: string };

export type RecordedImage = ImagePlace & { readonly fetched: FetchedImage };

const placeShape = { message_id: messageId, block: z.number() };
const recordedRow = z.union([
  z.object({
    ...placeShape,
    sha256,
    media_type: imageMediaType,
    width: z.number(),
    height: z.number(),
    problem: z.null(),
  }),
  z.object({ ...placeShape, problem: z.string() }),
]);

/**
 * The images of URLs in messages. The first result that is recorded is shown by every later request: messages are never
 * rewritten, and a request that is repeated after a crash must be the same, whatever the URL leads to by then.
 */
export class FetchedImages {
  constructor(private readonly database: Database) {}

  async of(messages: readonly MessageId[]): Promise<readonly RecordedImage[]> {
    return (await recorded.all(this.database.sql, [messages])).map(toRecordedImage);
  }

  /** Stores the blob and records it as the result, in one transaction. Resolves to the recorded result. */
  async keep(place: ImagePlace, owner: { accountId: AccountId; threadId: ThreadId }, image: InlineImage) {
    const { messageId, block } = place;
    const { sha256, media_type, width, height, bytes } = toBlob(image);
    const values = [owner.accountId, sha256, media_type, width, height, bytes, owner.threadId, messageId, block];
    await this.database.sql.query(keptImage, values);
    return this.at(place);
  }

  /** Records why there is no image. Resolves to the recorded result. */
  async refuse(place: ImagePlace, problem: string): Promise<FetchedImage> {
    await this.database.sql.query(refusedImage, [place.messageId, place.block, problem]);
    return this.at(place);
  }

  private async at({ messageId, block }: ImagePlace): Promise<FetchedImage> {
    const found = (await this.of([messageId])).find((one) => one.block === block);
    if (!found) throw new Error(`nothing is recorded of image ${block} of ${messageId}`);
    return found.fetched;
  }
}

function toRecordedImage(row: z.infer<typeof recordedRow>): RecordedImage {
  const place = { messageId: row.message_id, block: row.block };
  if (row.problem !== null) return { ...place, fetched: { how: 'refused', problem: row.problem } };
  const { sha256: hash, media_type, width, height } = row;
  return { ...place, fetched: { how: 'kept', image: { sha256: hash, media_type, width, height } } };
}

const recorded = createQuery(
  recordedRow,
  `
select message_id, block, sha256, media_type, width, height, problem
from fetched_images where message_id = any($1::text[])`,
);

const keptImage = `
with blob as (${newBlob}), shown as (${newRef})
insert into fetched_images (message_id, block, sha256, media_type, width, height) values ($8, $9, $2, $3, $4, $5)
on conflict do nothing`;

const refusedImage = `
insert into fetched_images (message_id, block, problem) values ($1, $2, $3) on conflict do nothing`;
