import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A program that runs another one until it is broken, and then only fails. */
export class BreakableProgram {
  private readonly directory = mkdtempSync('/var/tmp/rondo-program-');
  readonly path = join(this.directory, 'program');

  /** Any user may run it. */
  wrap(program: string): void {
    writeFileSync(this.path, `#!/bin/sh\nexec '${program}' "$@"\n`, { mode: 0o755 });
  }

  break(): void {
    writeFileSync(this.path, '#!/bin/sh\necho broken >&2\nexit 1\n', { mode: 0o755 });
  }

  remove(): void {
    rmSync(this.directory, { recursive: true });
  }
}
