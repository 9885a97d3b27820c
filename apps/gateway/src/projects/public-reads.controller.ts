import {
  Controller,
  StreamableFile,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import { publicReads as routes } from '@rondo/contract/api';
import { PublicReads } from '@rondo/persistence';
import { Route, type RouteInput } from '../http/route';
import { toLlmMessages } from '../threads/llm-messages';
import type { ApiRequest } from '../auth/api-request';
import { Authenticator } from '../auth/authenticator';

/** Limits the reads of an address that sends no key, together with its look-ups of keys. */
@Injectable()
class PublicRateGuard implements CanActivate {
  constructor(private readonly authenticator: Authenticator) {}

  canActivate(context: ExecutionContext): boolean {
    this.authenticator.countHandshake(context.switchToHttp().getRequest<ApiRequest>());
    return true;
  }
}

@UseGuards(PublicRateGuard)
@Controller()
export class PublicReadsController {
  constructor(private readonly reads: PublicReads) {}

  @Route(routes.getPublicProject)
  getPublicProject({ address }: RouteInput<typeof routes.getPublicProject>) {
    return this.reads.project(address.projectId);
  }

  @Route(routes.listPublicThreads)
  listPublicThreads({ address, query }: RouteInput<typeof routes.listPublicThreads>) {
    return this.reads.threads({ ...address, ...query });
  }

  @Route(routes.getPublicThread)
  getPublicThread({ address }: RouteInput<typeof routes.getPublicThread>) {
    return this.reads.thread(address.threadId);
  }

  @Route(routes.listPublicMessages)
  listPublicMessages({ address, query }: RouteInput<typeof routes.listPublicMessages>) {
    return this.reads.messages({ ...address, ...query });
  }

  @Route(routes.listPublicLlmMessages)
  async listPublicLlmMessages({ address }: RouteInput<typeof routes.listPublicLlmMessages>) {
    return toLlmMessages(await this.reads.forNextRun(address.threadId));
  }

  @Route(routes.getPublicImage)
  async getPublicImage({ address, response }: RouteInput<typeof routes.getPublicImage>) {
    const { mediaType, bytes } = await this.reads.image(address);
    response.set('Cache-Control', 'no-store'); // sharing can end
    return new StreamableFile(bytes, { type: mediaType, length: bytes.length, disposition: 'inline' });
  }

  @Route(routes.getPublicRun)
  getPublicRun({ address }: RouteInput<typeof routes.getPublicRun>) {
    return this.reads.run(address.runId);
  }
}
