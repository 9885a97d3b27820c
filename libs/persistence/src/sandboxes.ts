import type { Mint, ThreadId } from '@rondo/domain';
import type { Database } from './database';

/** Which executor hosts which thread's sandbox. */
export class Sandboxes {
  constructor(
    private readonly database: Database,
    private readonly mint: Mint,
  ) {}

  /** Asks `place` where nobody hosts the thread yet; where two ask at once, the first answer stays. */
  async placeOf(threadId: ThreadId, place: () => Promise<string>): Promise<string> {
    const { prisma } = this.database;
    const known = await prisma.sandbox.findUnique({ where: { threadId } });
    if (known) return known.executorId;

    const executorId = await place();
    await prisma.sandbox.createMany({
      data: { id: `sbx_${this.mint()}`, threadId, executorId },
      skipDuplicates: true,
    });
    return (await prisma.sandbox.findUniqueOrThrow({ where: { threadId } })).executorId;
  }
}
