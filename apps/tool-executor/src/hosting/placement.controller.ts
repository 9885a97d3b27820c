import { Controller } from '@nestjs/common';
import { MessagePattern, Payload, RpcException } from '@nestjs/microservices';
import { signals } from '@rondo/messaging';
import { ExecutorIdentity } from '../executor-identity';
import { SandboxHealth } from '../sandboxes';

/** Accepts new threads. Executors share these requests as a queue group; the one that answers has the thread's sandbox. */
@Controller()
export class PlacementController {
  constructor(
    private readonly identity: ExecutorIdentity,
    private readonly sandboxHealth: SandboxHealth,
  ) {}

  /** Refuses while no sandbox can be created here. */
  @MessagePattern(signals.place.pattern)
  async place(@Payload() payload: unknown): Promise<{ executor_id: string }> {
    signals.place.payload.parse(payload);
    const problem = await this.sandboxHealth.problem();
    if (problem !== undefined) throw new RpcException(problem);
    return { executor_id: this.identity.id };
  }
}
