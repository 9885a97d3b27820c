import { Controller } from '@nestjs/common';
import { MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { signals } from '@rondo/messaging';
import { Resources } from './resources';

/** Takes threads in. Executors share these requests; the one that answers hosts the thread's sandbox from then on. */
@Controller()
export class PlacementController {
  constructor(private readonly resources: Resources) {}

  /** Nobody gets a place where no sandbox can be booted. */
  @MessagePattern(signals.place.pattern)
  async place(@Payload() payload: unknown): Promise<{ executor_id: string }> {
    signals.place.payload.parse(payload);
    const problem = await this.resources.sandboxProblem();
    if (problem !== undefined) throw new RpcException(problem);
    return { executor_id: this.resources.executor.id };
  }
}
