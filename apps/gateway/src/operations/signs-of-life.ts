import {
  type HeardExecutor,
  type HeardRunHolder,
  HeardRunHolders,
  type NatsLink,
  type RunHolderService,
} from '@rondo/messaging';
import { silenceAdvice } from './findings';

/** Which processes live, as this gateway hears them. The health of the deployment and the reasons of waiting runs rest on it. */
export class SignsOfLife {
  private holders: Pick<HeardRunHolders, 'processes'> | undefined;

  /** `readExecutors` gives undefined before the first connection to NATS. */
  constructor(
    link: Promise<NatsLink>,
    private readonly readExecutors: () => readonly HeardExecutor[] | undefined,
  ) {
    void link.then((nats) => (this.holders = new HeardRunHolders(nats)));
  }

  /** Workers and summarizers. Undefined while it cannot be said. */
  get processes(): readonly HeardRunHolder[] | undefined {
    return this.holders?.processes;
  }

  /** Why no process of a service takes runs, and what to do, in words. Undefined: one does, or it cannot be said. */
  findProblem(service: RunHolderService): string | undefined {
    const processes = this.processes?.filter((process) => process.service === service);
    if (!processes || processes.some(({ isSilent }) => !isSilent)) return undefined;
    const [silent] = processes;
    return silent
      ? `The ${service} ${silent.id} has given no sign of life for ${inSeconds(silent)} and there is no other: ${silenceAdvice}`
      : `No ${service} gives a sign of life. Start one, or restart the one that is frozen.`;
  }

  /** Why the process that holds a run does not go on with it. Undefined: it does, or it cannot be said. */
  findHolderProblem(id: string): string | undefined {
    const holder = this.processes?.find((process) => process.id === id);
    if (!holder?.isSilent) return undefined;
    const { service } = holder;
    const problem = service === 'agent-worker' || service === 'summarizer' ? this.findProblem(service) : undefined;
    return (
      problem ??
      `The ${service} ${id} that has it has given no sign of life for ${inSeconds(holder)}; another one takes it over.`
    );
  }

  /** Why an executor does not go on with the calls it has. Undefined: it does, or it cannot be said. */
  findExecutorProblem(id: string): string | undefined {
    const executors = this.processes && this.readExecutors(); // nothing is said of executors before their signs must have come
    if (!executors || executors.some((executor) => executor.id === id)) return undefined;
    return `The executor ${id} gives no sign of life: ${silenceAdvice}`;
  }
}

const inSeconds = ({ silentMs }: HeardRunHolder): string => `${Math.round(silentMs / 1_000)} s`;
