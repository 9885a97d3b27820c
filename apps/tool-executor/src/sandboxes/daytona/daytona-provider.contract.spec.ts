import { describeSandboxProvider } from '../testing/sandbox-provider.contract';
import { DaytonaFixture } from './testing/daytona-fixture';

describeSandboxProvider('daytona', (settings) => DaytonaFixture.open(settings && { settings }));
