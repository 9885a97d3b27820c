import { describeSandboxCopies } from '../testing/sandbox-copies.contract';
import { DockerFixture } from './testing/docker-fixture';

describeSandboxCopies('docker', (copies) => DockerFixture.open({}, { copies }));
