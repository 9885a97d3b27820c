import type { Progress } from '../progress.mjs';

export function releasedCommit(): string;
export function releasedBuild(commit: string, log: Progress): Promise<string>;
