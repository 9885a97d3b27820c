import { drain } from './drain.mjs';
import { executorVolume } from './executor-volume.mjs';
import { helmTest } from './helm-test.mjs';
import { killedPods } from './killed-pods.mjs';
import { natsLeader } from './nats-leader.mjs';
import { rollingUpgrade } from './rolling-upgrade.mjs';
import { sandboxRun } from './sandbox-run.mjs';
import { scaling } from './scaling.mjs';

/** Each has a name, and `prove`, which resolves with its figures or rejects with what is wrong. In the order in which they run. */
export const proofs = [helmTest, sandboxRun, killedPods, natsLeader, rollingUpgrade, drain, executorVolume, scaling];
