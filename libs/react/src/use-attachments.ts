import type { Rondo } from '@rondo/client';
import { useState } from 'react';

/** A file of a message that is not sent yet. It has an id once it is uploaded. */
export interface Attachment {
  readonly key: number;
  readonly name: string;
  readonly size: number;
  readonly id: string | null;
  /** Why it could not be uploaded; null otherwise. */
  readonly problem: unknown;
}

export interface Attachments {
  readonly all: readonly Attachment[];
  readonly isUploading: boolean;
  /** Of those that are uploaded. */
  readonly ids: string[];
  readonly add: (files: Iterable<File>) => void;
  readonly remove: (attachment: Attachment) => void;
  /** Those that were sent. Others may have been added meanwhile. */
  readonly forget: (sent: readonly Attachment[]) => void;
}

let lastKey = 0;

/** Rejects for a folder, and for a file that is gone: to send one fails as if the server did not answer. */
export async function requireReadable(file: File): Promise<void> {
  const part = file.size > 1 ? file.slice(0, 1) : file; // of what is gone, the size is 0, and nothing of it can be read
  await part.arrayBuffer().catch((cause: unknown) => {
    throw new Error(`${file.name} cannot be read. Is it a folder?`, { cause });
  });
}

/** Files are uploaded as soon as they are chosen. `begun`: those that were uploaded before. */
export function useAttachments(rondo: Rondo, begun: readonly Attachment[] = []): Attachments {
  const [all, setAll] = useState(begun);
  const change = (key: number, to: Partial<Attachment>) =>
    setAll((known) => known.map((one) => (one.key === key ? { ...one, ...to } : one)));

  const add = (files: Iterable<File>) => {
    for (const file of files) {
      const key = ++lastKey;
      setAll((known) => [...known, { key, name: file.name, size: file.size, id: null, problem: null }]);
      requireReadable(file)
        .then(() => rondo.files.upload(file))
        .then(
          ({ id }) => change(key, { id }),
          (problem: unknown) => change(key, { problem }),
        );
    }
  };
  const remove = ({ key, id }: Attachment) => {
    setAll((known) => known.filter((one) => one.key !== key));
    if (id !== null) void rondo.files.delete(id).catch(() => undefined); // else it is deleted a day later
  };
  return {
    all,
    isUploading: all.some(({ id, problem }) => id === null && problem === null),
    ids: all.flatMap(({ id }) => id ?? []),
    add,
    remove,
    forget: (sent) => setAll((known) => known.filter(({ key }) => !sent.some((one) => one.key === key))),
  };
}
