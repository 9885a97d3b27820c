import { describeSandboxCopies } from '../testing/sandbox-copies.contract';
import { SandboxFixture } from './testing/sandbox-fixture';

describeSandboxCopies('embedded', (copies) => SandboxFixture.open({}, { copies }));
