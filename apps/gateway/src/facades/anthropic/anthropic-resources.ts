import { type AccountId, fileId } from '@rondo/contract';
import { type AnthropicSessionResource, mostFiles } from '@rondo/contract/api';
import type { FacadeObject, Files, ThreadAddress } from '@rondo/persistence';
import { newUlid } from '@rondo/platform';
import { z } from 'zod';
import { ApiError } from '../../problems/api-error';
import { refuse } from './anthropic-errors';

type SessionData = FacadeObject['data'] | undefined;

const stored = z.object({ id: z.string(), file_id: fileId, name: z.string(), created_at: z.string() });
type StoredResource = z.infer<typeof stored>;

const readAll = (data: SessionData): readonly StoredResource[] => z.array(stored).parse(data?.['resources'] ?? []);

/** The files that clients gave to a session. Each comes into its workspace with the next run that a message begins. */
export class AnthropicResources {
  constructor(private readonly files: Pick<Files, 'get' | 'places'>) {}

  /** What is stored of them with the session. Rejects with `file_not_found`. */
  async read(accountId: AccountId, given: readonly AnthropicSessionResource[], at: string): Promise<StoredResource[]> {
    const wanted = given.map((resource, index) => {
      if (resource.type !== 'file') throw refuse(`resources.${index}.type`, resource.type);
      const { file_id: id, mount_path: path } = resource;
      if (path && path !== `/mnt/session/uploads/${id}`)
        throw refuse(`resources.${index}.mount_path`, 'another path than the one in the workspace');
      const known = fileId.safeParse(id);
      if (!known.success) throw new ApiError('file_not_found', `There is no file ${id}.`);
      return known.data;
    });
    const files = await Promise.all(wanted.map((id) => this.files.get({ accountId, fileId: id })));
    return files.map(({ id, name }) => ({ id: `sesrsc_${newUlid()}`, file_id: id, name, created_at: at }));
  }

  /** As clients see them. One that no run has got yet is shown with the path that it will have where no other file has it. */
  async show(session: ThreadAddress, data: SessionData) {
    const all = readAll(data);
    const places = await this.files.places(
      session,
      all.map(({ file_id: id }) => id),
    );
    return all.map(({ id, file_id, name, created_at }) => ({
      ...{ id, type: 'file', file_id, created_at, updated_at: created_at },
      mount_path: `/workspace/${places.get(file_id) ?? name}`,
    }));
  }

  /** Those that the next run brings. */
  async findUndelivered(session: ThreadAddress, data: SessionData) {
    const ids = [...new Set(readAll(data).map(({ file_id: id }) => id))];
    const places = await this.files.places(session, ids);
    return ids.filter((id) => !places.has(id)).slice(0, mostFiles);
  }
}

export const addResource = (data: SessionData, added: StoredResource | undefined): readonly StoredResource[] =>
  added ? [...readAll(data), added] : readAll(data);

export const withoutResource = (data: SessionData, id: string): readonly StoredResource[] =>
  readAll(data).filter((resource) => resource.id !== id);

export const resourceNotFound = (id: string): ApiError => new ApiError('not_found', `There is no resource ${id}.`);
