import { describeSandboxCopies } from '../testing/sandbox-copies.contract';
import { DockerFixture, engineUnderTest } from './testing/docker-fixture';

describeSandboxCopies('docker', (copies) => DockerFixture.open(engineUnderTest, { copies }));
