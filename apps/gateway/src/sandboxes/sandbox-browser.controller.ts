import { Controller, Header } from '@nestjs/common';
import { sandboxes as routes } from '@rondo/contract/api';
import { clientSignal } from '../http/client-signal';
import { Route, type RouteInput } from '../http/route';
import { BrowserAccess } from './browser-access';

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
