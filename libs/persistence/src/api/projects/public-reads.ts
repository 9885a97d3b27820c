import {
  type ContentBlock,
  type FinishReason,
  type Message,
  type MessageId,
  type ProjectId,
  type Run,
  type RunId,
  type Sha256,
  type ThreadId,
  finishReason,
  messageId,
  messageType,
  projectId,
  runId,
  runStatus,
  toShownContent,
  threadId,
} from '@rondo/contract';
import { TerminalError } from '@rondo/domain';
import type { Database } from '../../database/database';
import { type Blob, blobRow } from '../blobs/blobs';
import { runNotFound } from '../runs/lock-run';
import { BoundedList, type Page, type PageRequest, idOfCursor, invalidCursor, toPage } from '../page';
import { readThreadHistory } from '../../run-log/claim-history';
import { threadNotFound } from '../thread-row';
import { projectNotFound } from './project-row';
import { z } from 'zod';
import { createQuery, jsonDocument } from '../../database/checked-query';

/** What of a project is public. */
export interface PublicProject {
  readonly id: ProjectId;
  readonly name: string;
  readonly created_at: string;
}

export interface PublicThread {
  readonly id: ThreadId;
  /** Null where the project itself is not public. */
  readonly project_id: ProjectId | null;
  readonly created_at: string;
}

/** Without settings, metadata, agent, usage and errors in full: they are the account's. */
export interface PublicRun extends Pick<Run, 'id' | 'thread_id' | 'status' | 'preview'> {
  readonly finish_reason: FinishReason | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

export interface PublicMessage {
  readonly id: MessageId;
  readonly run_id: RunId | null;
  readonly seq: number;
  readonly type: Message['type'];
  readonly content: ContentBlock[];
  readonly created_at: string;
}

const isoTime = z.date().transform((time) => time.toISOString());
const projectRow = z.object({ id: projectId, name: z.string(), created_at: isoTime });
const threadRow = z.object({ id: threadId, project_id: projectId.nullable(), created_at: isoTime });
const runRow = z.object({
  id: runId,
  thread_id: threadId,
  status: runStatus,
  preview: z.string().nullable(),
  finish_reason: finishReason.nullable(),
  created_at: isoTime,
  started_at: isoTime.nullable(),
  finished_at: isoTime.nullable(),
});

/** Every statement below reads through it: what it does not have is never shown without a key. */
const publicThreads = `
(select threads.id, threads.created_at, case when projects.is_public then projects.id end as project_id
from threads join accounts on accounts.id = threads.account_id
left join projects on projects.id = threads.project_id and projects.deleted_at is null
where threads.deleted_at is null and not threads.is_workspace and accounts.removed_at is null
  and (threads.is_public or coalesce(projects.is_public, false))) as shared`;

const project = createQuery(
  projectRow,
  `
select projects.id, projects.name, projects.created_at from projects join accounts on accounts.id = account_id
where projects.id = $1 and is_public and deleted_at is null and removed_at is null`,
);

const threadsOfProject = createQuery(
  threadRow,
  `
select * from ${publicThreads} where project_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
);

const thread = createQuery(threadRow, `select * from ${publicThreads} where id = $1`);

const publicThread = `from threads join ${publicThreads} on shared.id = threads.id where threads.id = $1`;

const run = createQuery(
  runRow,
  `
select runs.id, runs.thread_id, runs.status, runs.preview, runs.finish_reason, runs.created_at, runs.started_at,
  runs.finished_at
from runs join ${publicThreads} on shared.id = runs.thread_id where runs.id = $1`,
);

const messageSeq = createQuery(
  z.object({ seq: z.number() }),
  `select seq from messages where id = $1 and thread_id = $2`,
);

/** The dialogue. Other messages hold what the service notes for itself. */
const dialogue = new BoundedList<PublicMessage>(
  `select messages.id, run_id, seq, type, content, messages.created_at
  from messages join ${publicThreads} on shared.id = messages.thread_id
  where messages.thread_id = $1 and seq > $2 and type in ('user', 'assistant', 'tool') and is_llm_message
  order by seq limit $3`,
  { order: 'seq', length: 'octet_length(content::text)' },
  z.object({
    id: messageId,
    run_id: runId.nullable(),
    seq: z.number(),
    type: messageType,
    // Reasoning is for the provider and the account only.
    content: jsonDocument<ContentBlock[]>().transform((blocks) =>
      toShownContent(blocks.filter(({ type }) => type !== 'reasoning')),
    ),
    created_at: isoTime,
  }),
);

const image = createQuery(
  blobRow,
  `
select media_type as "mediaType", bytes from blobs join blob_refs using (account_id, sha256)
join ${publicThreads} on shared.id = blob_refs.thread_id where blob_refs.thread_id = $1 and sha256 = $2`,
);

/** Reads without an account. What is not public does not exist. It changes nothing, and has no way to files of workspaces. */
export class PublicReads {
  constructor(private readonly database: Database) {}

  async project(id: ProjectId): Promise<PublicProject> {
    const row = await project.first(this.database.sql, [id]);
    if (!row) throw projectNotFound(id);
    return row;
  }

  /** Newest first. */
  async threads({ projectId, after, limit }: PageRequest & { projectId: ProjectId }): Promise<Page<PublicThread>> {
    await this.project(projectId);
    const cursor = after === undefined ? null : idOfCursor(after, threadId);
    const rows = await threadsOfProject.all(this.database.sql, [projectId, cursor, limit + 1]);
    return toPage(rows, limit);
  }

  async thread(id: ThreadId): Promise<PublicThread> {
    const row = await thread.first(this.database.sql, [id]);
    if (!row) throw threadNotFound(id);
    return row;
  }

  async run(id: RunId): Promise<PublicRun> {
    const row = await run.first(this.database.sql, [id]);
    if (!row) throw runNotFound(id);
    return row;
  }

  /** In thread order, without metadata. */
  async messages({ threadId: id, after, limit }: PageRequest & { threadId: ThreadId }): Promise<Page<PublicMessage>> {
    await this.thread(id);
    return dialogue.page(this.database.sql, [id, after === undefined ? 0 : await this.readSeq(id, after)], limit);
  }

  /** What the thread's next run would read of it (`messagesForNextRun`). */
  async forNextRun(id: ThreadId): Promise<readonly Message[]> {
    const history = await readThreadHistory(this.database.sql, publicThread, [id]);
    if (!history) throw threadNotFound(id);
    return history;
  }

  /** An image that the thread shows. */
  async image({ threadId: id, sha256 }: { threadId: ThreadId; sha256: Sha256 }): Promise<Blob> {
    const shown = await image.first(this.database.sql, [id, sha256]);
    if (!shown) throw new TerminalError('blob_not_found', `${id} shows no image ${sha256}.`);
    return shown;
  }

  private async readSeq(thread: ThreadId, cursor: string): Promise<number> {
    const id = idOfCursor(cursor, messageId);
    const row = await messageSeq.first(this.database.sql, [id, thread]);
    if (!row) throw invalidCursor();
    return row.seq;
  }
}
