import { describeSandboxProvider } from '../testing/sandbox-provider.contract';
import { SandboxFixture } from './testing/sandbox-fixture';

describeSandboxProvider('embedded', (limits) => SandboxFixture.open(limits));
