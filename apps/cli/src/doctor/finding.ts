/** What a check found. `advice` is what to do about it. */
export interface Finding {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'broken' | 'skipped';
  readonly found: string;
  readonly advice?: string;
}

export const ok = (name: string, found: string): Finding => ({ name, status: 'ok', found });

type Told = readonly [found: string, advice: string];

export const warning = (name: string, [found, advice]: Told): Finding => ({ name, status: 'warning', found, advice });

export const broken = (name: string, [found, advice]: Told): Finding => ({ name, status: 'broken', found, advice });

export const skip = (name: string, found: string): Finding => ({ name, status: 'skipped', found });

export const toMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
