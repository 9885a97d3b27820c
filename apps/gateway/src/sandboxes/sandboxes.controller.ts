import { Controller, StreamableFile, Header } from '@nestjs/common';
import { sandboxes as routes } from '@rondo/contract/api';
import { Sandboxes } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { CommandAccess } from './command-access';
import { SandboxService } from './sandbox-service';
import { clientSignal } from '../http/client-signal';
import { BrowserAccess } from './browser-access';

@Controller()
export class SandboxesController {
  constructor(
    private readonly sandboxes: Sandboxes,
    private readonly service: SandboxService,
    private readonly commands: CommandAccess,
  ) {}

  @Route(routes.listSandboxes)
  async listSandboxes({ address, query: { thread_id: threadId, ...query } }: RouteInput<typeof routes.listSandboxes>) {
    const page = await this.sandboxes.list({ ...address, ...query, threadId });
    return { ...page, data: await this.service.statuses(address.accountId, page.data) };
  }

  @Route(routes.getSandbox)
  getSandbox({ address }: RouteInput<typeof routes.getSandbox>) {
    return this.service.status(address);
  }

  @Route(routes.getThreadSandbox)
  getThreadSandbox({ address }: RouteInput<typeof routes.getThreadSandbox>) {
    return this.service.statusOfThread(address);
  }

  @Route(routes.ensureSandbox)
  ensureSandbox({ address }: RouteInput<typeof routes.ensureSandbox>) {
    return this.service.ensure(address);
  }

  @Route(routes.startSandbox)
  startSandbox({ address }: RouteInput<typeof routes.startSandbox>) {
    return this.service.change(address, 'start');
  }

  @Route(routes.stopSandbox)
  stopSandbox({ address }: RouteInput<typeof routes.stopSandbox>) {
    return this.service.change(address, 'stop');
  }

  @Route(routes.deleteSandbox)
  deleteSandbox({ address }: RouteInput<typeof routes.deleteSandbox>) {
    return this.service.remove(address);
  }

  @Route(routes.runCommand)
  runCommand({ address, body, ...client }: RouteInput<typeof routes.runCommand>) {
    return this.commands.run(address, body, client);
  }
}

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

/** The browser of the agent, for a person who helps it along: a captcha, a login, a second factor. */
@Controller()
export class SandboxBrowserController {
  constructor(private readonly access: BrowserAccess) {}

  @Route(routes.getBrowser)
  @Header('Cache-Control', 'no-store')
  getBrowser({ address, request, response }: RouteInput<typeof routes.getBrowser>) {
    return this.access.look(address, clientSignal(request, response));
  }

  @Route(routes.operateBrowser)
  @Header('Cache-Control', 'no-store')
  operateBrowser({ address, body, request, response }: RouteInput<typeof routes.operateBrowser>) {
    return this.access.act(address, body.action, clientSignal(request, response));
  }
}
