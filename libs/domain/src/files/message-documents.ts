import { type NewMessage, sha256 } from '@rondo/contract';
import { z } from 'zod';
import { memoize } from '../memoize';
import type { ShownDocument } from '../models/model';

const shown = z.object({
  documents: z.array(z.object({ name: z.string(), sha256, pages: z.number().int().positive() })),
});

/**
 * The PDFs of a message that its model is shown, oldest first. They are in the metadata of messages in memory only, where the
 * agent-worker puts them before a run goes on: whether a model reads PDFs is known there.
 */
export const documentsIn = memoize(({ metadata }: Pick<NewMessage, 'metadata'>): readonly ShownDocument[] =>
  (shown.safeParse(metadata).data?.documents ?? []).map((one) => ({ type: 'document', ...one })),
);

/** The message with these PDFs, and without any that its metadata had before. */
export function withDocuments<Message extends Pick<NewMessage, 'metadata'>>(
  message: Message,
  documents: readonly Pick<ShownDocument, 'name' | 'sha256' | 'pages'>[],
): Message {
  const { documents: before, ...metadata } = message.metadata;
  if (documents.length === 0 && before === undefined) return message;
  return { ...message, metadata: documents.length === 0 ? metadata : { ...metadata, documents } };
}
