import { Controller } from '@nestjs/common';
import { sandboxes as routes } from '@rondo/contract/api';
import { Sandboxes } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { CommandAccess } from './command-access';
import { SandboxService } from './sandbox-service';

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
