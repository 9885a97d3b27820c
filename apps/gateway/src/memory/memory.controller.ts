import { Controller } from '@nestjs/common';
import { memory as routes } from '@rondo/contract/api';
import { MemoryEntries, MemoryStores } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';

@Controller()
export class MemoryController {
  constructor(
    private readonly stores: MemoryStores,
    private readonly entries: MemoryEntries,
  ) {}

  @Route(routes.createMemoryStore)
  createMemoryStore({ address, body }: RouteInput<typeof routes.createMemoryStore>) {
    return this.stores.create(address.accountId, body);
  }

  @Route(routes.listMemoryStores)
  listMemoryStores({ address, query }: RouteInput<typeof routes.listMemoryStores>) {
    return this.stores.list({ ...address, ...query });
  }

  @Route(routes.getMemoryStore)
  getMemoryStore({ address }: RouteInput<typeof routes.getMemoryStore>) {
    return this.stores.get(address);
  }

  @Route(routes.deleteMemoryStore)
  deleteMemoryStore({ address }: RouteInput<typeof routes.deleteMemoryStore>) {
    return this.stores.delete(address);
  }

  @Route(routes.listMemoryEntries)
  listMemoryEntries({ address, query }: RouteInput<typeof routes.listMemoryEntries>) {
    return this.entries.list({ ...address, ...query });
  }

  @Route(routes.searchMemory)
  async searchMemory({ address, query }: RouteInput<typeof routes.searchMemory>) {
    return { data: await this.entries.search({ ...address, ...query }) };
  }

  @Route(routes.readMemoryEntry)
  readMemoryEntry({ address, query }: RouteInput<typeof routes.readMemoryEntry>) {
    return this.entries.read({ ...address, ...query });
  }

  @Route(routes.listMemoryVersions)
  listMemoryVersions({ address, query }: RouteInput<typeof routes.listMemoryVersions>) {
    return this.entries.listVersions({ ...address, ...query });
  }

  @Route(routes.writeMemoryEntry)
  writeMemoryEntry({ address, query, body, caller }: RouteInput<typeof routes.writeMemoryEntry>) {
    const { content, if_version: ifVersion } = body;
    const writer = { caller_id: caller.keyId, run_id: null, tool_call_id: null, seq: null };
    return this.entries.write({ ...address, ...query, content, ifVersion, writer });
  }

  @Route(routes.deleteMemoryEntry)
  deleteMemoryEntry({ address, query }: RouteInput<typeof routes.deleteMemoryEntry>) {
    return this.entries.delete({ ...address, path: query.path, ifVersion: query.if_version });
  }
}
