import { describeSandboxProvider } from '../testing/sandbox-provider.contract';
import { DockerFixture, engineUnderTest } from './testing/docker-fixture';

describeSandboxProvider('docker', (limits) => DockerFixture.open({ ...limits, ...engineUnderTest }));
