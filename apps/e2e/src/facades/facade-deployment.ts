import { type DeploymentRequest, type RondoClient, RunningRondo, scripted } from '@rondo/test-deployment';

/** All that a run needs twice, so that one of them can be killed, or asked what the other one has done. */
const twoOfEach: DeploymentRequest = {
  instances: ['demo-model', 'tool-executor', 'agent-worker', 'agent-worker', 'gateway', 'gateway'],
};

/** The deployment that the specs of a file share. */
export class FacadeDeployment {
  private running: RunningRondo | undefined;

  private constructor() {
    // Only `forSuite` makes one, because a deployment that is not stopped outlives the specs.
  }

  /** Starts it before the specs of a file, and stops it after them. A strict provider would have refused no request of its runs. */
  static forSuite(request: DeploymentRequest = twoOfEach): FacadeDeployment {
    const deployment = new FacadeDeployment();
    beforeAll(async () => {
      deployment.running = await RunningRondo.start(request);
    });
    afterAll(async () => {
      expect(await deployment.rondo.violations()).toEqual([]);
      await deployment.rondo.stop();
    });
    return deployment;
  }

  get rondo(): RunningRondo {
    if (!this.running) throw new Error('the deployment has not started');
    return this.running;
  }

  get client(): RondoClient {
    return this.rondo.client();
  }

  /** A client of the second gateway. */
  get other(): RondoClient {
    return this.rondo.client('gateway-2');
  }

  killGateway(): Promise<void> {
    return this.rondo.services.get('gateway').kill();
  }

  /** One of them has the run. */
  async killWorkers(): Promise<void> {
    for (const name of ['agent-worker', 'agent-worker-2']) await this.rondo.services.get(name).kill();
  }
}

/** An input that makes `demo/scripted` replay these turns. `text` makes each conversation different. */
export const about = (text: string, turns: readonly Record<string, unknown>[]): string => scripted(text, turns).input;

/** At a pace of 20 ms about five seconds of text, and text that has no part twice. */
export const long = Array.from({ length: 250 }, (_, n) => `Sentence ${n}.`).join(' ');
