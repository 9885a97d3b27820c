import { Controller, StreamableFile } from '@nestjs/common';
import { sandboxes as routes } from '@rondo/contract/api';
import { clientSignal } from '../http/client-signal';
import { Route, type RouteInput } from '../http/route';
import { SandboxService } from './sandbox-service';

/** Files of any size, in streams. */
@Controller()
export class SandboxFilesController {
  constructor(private readonly service: SandboxService) {}

  @Route(routes.listFiles)
  listFiles({ address, query }: RouteInput<typeof routes.listFiles>) {
    return this.service.listFiles(address, query);
  }

  @Route(routes.readFile)
  async readFile({ address, query, request, response }: RouteInput<typeof routes.readFile>) {
    const { content, size } = await this.service.readFile(address, query.path, clientSignal(request, response));
    // Hostile bytes: a browser must never render them with the origin of the API.
    return new StreamableFile(content, { type: 'application/octet-stream', length: size, disposition: 'attachment' });
  }

  @Route(routes.writeFile)
  writeFile({ address, query, request, response }: RouteInput<typeof routes.writeFile>) {
    return this.service.writeFile(address, query.path, { source: request, client: clientSignal(request, response) });
  }

  @Route(routes.deleteFile)
  deleteFile({ address, query }: RouteInput<typeof routes.deleteFile>) {
    return this.service.deleteFile(address, query);
  }
}
